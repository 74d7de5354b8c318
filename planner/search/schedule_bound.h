#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "core/schedule/pipeline_order.h"
#include "planner/search/closed_form.h"
#include "sim/engine/pipeline_timing.h"

namespace stagewright {

/// Orders of schedules, generated and compiled once each.  For several threads at once.
class OrderCache {
 public:
  struct Entry {
    PipelineOrder order;
    PipelineTimer timer;
    bool has_whole_backwards = false;  ///< beside halves, or alone
  };
  /// The point's order; null where it has too many actions to be worth it or cannot be generated.
  [[nodiscard]] const Entry* find(const PlanPoint& point);

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>;
  struct Slot {
    std::once_flag once;
    std::unique_ptr<Entry> entry;
  };
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<Slot>> slots_;
};

/// The bound of a whole point with its schedule's own order in place of sums over it: bare stages
/// timed in that order, and what their micro-batches hold at once.  At least as large as
/// ClosedForm's, and never above the static pass's figures.  `stages`: of `estimate`.
[[nodiscard]] Bound bound_by_order(const OrderCache::Entry& entry,
                                   const StageCosts& stages,
                                   const Bound& closed_form);

}  // namespace stagewright
