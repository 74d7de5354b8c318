#pragma once

#include <cstdint>
#include <vector>

#include "planner/schedules/generator.h"

namespace stagewright {

/// An action at a virtual time.
struct TimedAction {
  std::int64_t time = 0;
  Action action;
};

/// A rank's actions by their times; equal times keep the order in which they are given.  When on
/// every rank what an action needs has an earlier time, the ranks cannot wait for each other in a
/// circle.
[[nodiscard]] std::vector<Action> by_time(std::vector<TimedAction> actions);

}  // namespace stagewright
