#include "planner/schedules/timed_actions.h"

#include <algorithm>

namespace stagewright {

std::vector<Action> by_time(std::vector<TimedAction> actions) {
  std::stable_sort(actions.begin(), actions.end(), [](const TimedAction& a, const TimedAction& b) {
    return a.time < b.time;
  });
  std::vector<Action> order;
  order.reserve(actions.size());
  for (const TimedAction& timed : actions) {
    order.push_back(timed.action);
  }
  return order;
}

}  // namespace stagewright
