#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// Hanayo (Liu et al. 2023): V / 2 waves, each down and up the ranks, one copy of the weights.
/// Every rank runs what is ready, backwards first, the oldest micro-batch first; P micro-batches
/// are under way at most, so its regime is M = P.  The paper gives no generator; the order is that
/// of a replay with F = 1, B = 2.
[[nodiscard]] ScheduleGenerator hanayo_schedule();

}  // namespace stagewright
