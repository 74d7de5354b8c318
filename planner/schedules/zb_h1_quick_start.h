#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// The variant of ZB-H1 that fits into an existing 1F1B (branch zb-h1-quick-start of the
/// zero-bubble repository): the backward is split only in the first r pairs of rank r, in its last
/// pair and in the cool-down, on rank 0 never.  Bubble and memory of ZB-H1 where transfers are
/// free; with transfers slower, because most gradients leave after their weight half.
[[nodiscard]] ScheduleGenerator zb_h1_quick_start_schedule();

}  // namespace stagewright
