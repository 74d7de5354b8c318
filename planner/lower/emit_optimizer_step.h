#pragma once

#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Pass: makes the step's totals (squared gradient norm, mean loss).  Before any stage is emitted,
/// since the loss adds to them.
void make_totals(RankDraft& draft);

/// Pass: the operations of the optimizer step: norm over each weight's gradient (a weight held by n
/// ranks counts 1/n on each), sum of the totals over the world, update of each weight, and zeros
/// for the next step.  Optimizer state is made here.  After bucket_gradients.
void emit_optimizer_step(const RankContext& context, RankDraft& draft);

}  // namespace stagewright
