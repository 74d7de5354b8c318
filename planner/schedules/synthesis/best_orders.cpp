#include "planner/schedules/synthesis/best_orders.h"

#include <algorithm>
#include <utility>

namespace stagewright::synthesis {

OrderScore BestOrders::offer(StepLists lists) {
  if (!clock_.run(lists)) {
    return {};
  }
  const OrderScore score = clock_.score();
  // Of orders with one score nearly all are equal; one of each is enough.
  const auto place = std::lower_bound(
      best_.begin(), best_.end(), score, [](const ScoredOrder& candidate, const OrderScore& other) {
        return candidate.score < other;
      });
  const bool known = place != best_.end() && place->score == score;
  if (!known && (best_.size() < most_ || place != best_.end())) {
    best_.insert(place, {score, std::move(lists)});
    if (best_.size() > most_) {
      best_.pop_back();
    }
  }
  return score;
}

}  // namespace stagewright::synthesis
