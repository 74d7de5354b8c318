#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// ZB-V (Qi et al. 2024): two stages per rank on a V, split backward.  For equal F, I and W no rank
/// idles between its first and last action; 2P activations of a stage on every rank, as much as
/// 1F1B.
[[nodiscard]] ScheduleGenerator zb_v_schedule();

}  // namespace stagewright
