#pragma once

#include <cstdint>
#include <vector>

#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Pass: makes the step's totals (squared gradient norm, mean loss).  Before any stage is emitted,
/// since the loss adds to them.
void make_totals(RankDraft& draft);

/// Pass: what is updated as one: each weight, or the rank's part of each bucket where replicas
/// divide the states.  Makes the optimizer's own tensors.  After bucket_gradients.
void plan_updates(const RankContext& context, RankDraft& draft);

/// The operations that make a version of a stage's weights in the middle of a step: copies into it,
/// the norm of the gradients, the update, zeros for the next gradients.  No norm is
/// known over all stages then.  REQUIRES: an asynchronous schedule; plan_updates has run.
[[nodiscard]] std::vector<Operation> update_of_stage(const RankContext& context,
                                                     const RankDraft& draft,
                                                     StageId stage,
                                                     std::int32_t version);

/// Pass: the operations of the optimizer step: norm over each weight's gradient (a weight held by n
/// ranks counts 1/n on each), sum of the totals over the world, update of each weight, and zeros
/// for the next step.  Where the plan clips, the sum is a barrier: updates read it.  Where it does
/// not, they run beside it.  Where weights change in the middle of the step, only the totals are
/// left, and the newest weights move to version 0.  After plan_updates.
void emit_optimizer_step(const RankContext& context, RankDraft& draft);

}  // namespace stagewright
