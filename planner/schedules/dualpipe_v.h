#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// DualPipeV (DeepSeek-AI 2025, "cut in half"): DualPipe on a V of 2P stages with one copy of the
/// weights. Bubble (P - 1)(F&B + B - 3W) with F&B the time of an overlapped pair; 2P + 1
/// activations of a stage.
[[nodiscard]] ScheduleGenerator dualpipe_v_schedule();

}  // namespace stagewright
