#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// 1F1B with flush (Narayanan et al. 2021; the default of Megatron-LM): rank r of P runs
/// min(P - 1 - r, M) forwards, then pairs of forward and backward, then the remaining backwards.
/// Makespan (M + P - 1)(F + B) as GPipe, but at most P - r micro-batches in memory.  Any number of
/// micro-batches; one stage per rank.
[[nodiscard]] ScheduleGenerator one_forward_one_backward_schedule();

/// Its order with `eager` (P - 1 - r) forwards as warm-up.
[[nodiscard]] Result<PipelineOrder> one_forward_one_backward(const PipelineShape& shape,
                                                             std::int32_t eager,
                                                             std::string_view schedule);

}  // namespace stagewright
