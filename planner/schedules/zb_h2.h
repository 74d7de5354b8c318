#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// ZB-H2, also ZB-2p (Qi et al. 2023): twice the warm-up of ZB-H1, so that no rank idles between
/// its first and last action for equal costs; 2P - 1 micro-batches in memory.  With a barrier at
/// the end of the step its makespan is that of ZB-H1.
[[nodiscard]] ScheduleGenerator zb_h2_schedule();

}  // namespace stagewright
