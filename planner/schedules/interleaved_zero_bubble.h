#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// ZB-H1 over V stages per rank (PyTorch InterleavedZeroBubble): bubble (P - 1)(F + I - W) of one
/// stage; V P activations in memory until their weight half.  Groups as in interleaved 1F1B.
[[nodiscard]] ScheduleGenerator interleaved_zero_bubble_schedule();

}  // namespace stagewright
