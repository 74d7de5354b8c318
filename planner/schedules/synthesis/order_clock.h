#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "planner/schedules/synthesis/step_table.h"

namespace stagewright::synthesis {

/// How good an order is; less is better.
struct OrderScore {
  std::int64_t time = std::numeric_limits<std::int64_t>::max();  ///< the objective
  std::int64_t rest = std::numeric_limits<std::int64_t>::max();  ///< the ranks' times in sum
  friend auto operator<=>(const OrderScore&, const OrderScore&) = default;
};

/// Times candidate orders, each step as soon as its rank and its data allow.
class OrderClock {
 public:
  /// Keeps a reference to the table.
  explicit OrderClock(const StepTable& table);

  /// Whether the lists can run to their end with no rank above its cap; score and ends are those of
  /// the last lists that could.
  bool run(const StepLists& lists);
  [[nodiscard]] const OrderScore& score() const { return score_; }
  /// Of a slot: StepType::slot + micro-batch.
  [[nodiscard]] std::int64_t end_of(std::int32_t slot) const {
    return ends_[static_cast<std::size_t>(slot)];
  }

 private:
  struct Rank {
    std::size_t next = 0;
    std::int64_t clock = 0;
    std::int64_t first = 0;
    std::int64_t held = 0;
    std::optional<std::int32_t> waits_for;  ///< slot
  };
  bool advance(std::size_t rank, const std::vector<OrderStep>& list);

  const StepTable& table_;
  std::vector<std::int64_t> ends_;  ///< by slot; negative: not yet
  std::vector<Rank> ranks_;
  std::vector<std::size_t> runnable_;
  OrderScore score_;
};

}  // namespace stagewright::synthesis
