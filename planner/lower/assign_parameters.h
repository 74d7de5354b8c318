#pragma once

#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Pass: makes the tensors of all weights that the rank holds (a tied weight once a rank) and lists
/// them in RankDraft::weights.  Runs first; gradients, parameter table and optimizer follow
/// from the list.
void assign_weights(const RankContext& context, RankDraft& draft);

/// Pass: fills the parameter table, one row per parameter of each weight.  After
/// bucket_gradients.
void fill_parameter_table(const RankContext& context, RankDraft& draft);

}  // namespace stagewright
