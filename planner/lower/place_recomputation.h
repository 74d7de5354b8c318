#pragma once

#include <set>
#include <vector>

#include "core/base/result.h"
#include "core/plan/plan.h"
#include "core/schedule/pipeline_order.h"
#include "planner/lower/rank_draft.h"

namespace stagewright {

/// The stages whose recomputation is an action of its own: all that recompute where the plan wants
/// it ahead, else those for which the order has such actions.  Fails with kInfeasible where the
/// order recomputes a stage of which the plan keeps all activations.
[[nodiscard]] Result<std::set<StageId>> stages_that_recompute_ahead(const Plan& plan,
                                                                    const PipelineOrder& order);

/// Pass: gives each backward of a stage with a list of StageProgram::recompute its kRecompute.
/// Those that stand in the order stay where they are; the others stand directly before the
/// backward, behind the computation before it, so that they run while the rank waits for the
/// gradient.  After emit_stages of all ranks.
void place_recomputation(PipelineOrder& order, const std::vector<RankDraft>& drafts);

}  // namespace stagewright
