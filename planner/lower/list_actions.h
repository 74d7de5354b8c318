#pragma once

#include <vector>

#include "core/schedule/rank_program.h"
#include "planner/axes/pipeline.h"
#include "planner/lower/order_transfers.h"
#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Pass: the whole list of one pipeline rank.  Around its compute actions it puts: a load before
/// each forward that reads tokens or targets; each send right behind what makes its tensor; each
/// receive one compute action ahead of what reads it, or where the order of transfers asks, so that
/// the message overlaps with computation; the reductions and gathers in their places; at the end
/// the optimizer step and the gathering of what it has updated.  `transfers` is the global order.
/// After emit_stages.
[[nodiscard]] std::vector<Action> list_actions(const RankProgram& program,
                                               const PipelineAxis& axis,
                                               const std::vector<Action>& compute,
                                               const std::vector<Transfer>& transfers,
                                               const std::vector<BucketAction>& reductions,
                                               const std::vector<BucketAction>& gathers);

}  // namespace stagewright
