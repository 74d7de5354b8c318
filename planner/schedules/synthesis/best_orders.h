#pragma once

#include <cstddef>
#include <vector>

#include "planner/schedules/synthesis/order_clock.h"

namespace stagewright::synthesis {

/// An order with its score.
struct ScoredOrder {
  OrderScore score;
  StepLists lists;
};

/// The best few different orders of all that are offered; best first.
class BestOrders {
 public:
  BestOrders(const StepTable& table, std::size_t most) : clock_(table), most_(most) {}

  /// Times the order and keeps it if it is good enough; its score, or the worst one where it runs
  /// into a cap or waits for ever.
  OrderScore offer(StepLists lists);
  [[nodiscard]] const std::vector<ScoredOrder>& best() const { return best_; }

 private:
  OrderClock clock_;
  std::size_t most_;
  std::vector<ScoredOrder> best_;
};

}  // namespace stagewright::synthesis
