#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// DualPipe (DeepSeek-AI 2024): micro-batches enter at both ends, every rank holds a stage of each
/// of two copies of the weights.  Bubble (P / 2 - 1)(F&B + B - 3W) with F&B the time of an
/// overlapped pair; P + 1 activations of a stage.  The gradients of the copies are to be added up.
[[nodiscard]] ScheduleGenerator dualpipe_schedule();

}  // namespace stagewright
