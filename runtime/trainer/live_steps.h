#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "core/schedule/schedule.h"
#include "core/trace/trace.h"
#include "runtime/trainer/measured_trace.h"

namespace stagewright {

/// Timelines of single steps while a run goes on: of the first step, and then of one in every
/// `interval` at the most.  Ranks call it from their threads; no rank begins a step before all have
/// added the one before it.
class LiveSteps {
 public:
  using Tell = std::function<void(const Trace&)>;

  /// `tell` gets a trace of one step, on the thread of the rank that ended it last; the step's
  /// number stands in made_by["step"].  `schedule` must outlive this.
  LiveSteps(const Schedule& schedule, Duration interval, Tell tell);

  /// Whether the step that begins is one of those.  All ranks get the same answer.
  [[nodiscard]] bool wants(std::int32_t step);
  /// What a rank measured in a step that is wanted.
  void add(const RankPlan& plan, const StepRecord& record, const std::optional<StepTotals>& totals);

 private:
  const Schedule& schedule_;
  std::chrono::nanoseconds interval_;
  Tell tell_;
  std::mutex mutex_;
  std::optional<std::int32_t> asked_;  ///< last
  bool wanted_ = false;
  std::optional<std::chrono::steady_clock::time_point> told_;  ///< last
  std::vector<RankMeasurements> ranks_;                        ///< of the step that is wanted
  std::size_t added_ = 0;
};

}  // namespace stagewright
