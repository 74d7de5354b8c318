#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// Interleaved 1F1B (Narayanan et al. 2021; Megatron-LM, PyTorch): V stages per rank, looped.  Rank
/// r warms up with (V - 1) N + 2 (P - 1 - r) forwards, then pairs of forward and backward; N is the
/// group (chunk_groups.h).  Bubble (P - 1)(F + B) of one stage.  With the parameter `overlap` = 1
/// the warm-up is one forward longer and the pairs run together, to hide their all-to-alls.
[[nodiscard]] ScheduleGenerator interleaved_schedule();

}  // namespace stagewright
