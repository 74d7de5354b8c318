#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// ZB-H1, also ZB-1p (Qi et al. 2023): 1F1B with split backward.  Bubble (P - 1)(F + I - W); P
/// micro-batches in memory on every rank until their weight half.
[[nodiscard]] ScheduleGenerator zb_h1_schedule();

}  // namespace stagewright
