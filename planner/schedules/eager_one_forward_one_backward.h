#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// 1F1B with twice the warm-up, min(2 (P - 1 - r), M) forwards: the gradient's way back hides
/// behind work, so that exposed transfers do not lengthen the period, for 2 (P - r) - 1
/// micro-batches in memory.  Any number of micro-batches; one stage per rank.
[[nodiscard]] ScheduleGenerator eager_one_forward_one_backward_schedule();

}  // namespace stagewright
