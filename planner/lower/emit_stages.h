#pragma once

#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Pass: writes the forward and backward operations of every stage that the rank holds, with their
/// border tensors and collectives.  Neighbouring stages on one rank hand over the same
/// tensor.  After bucket_gradients and make_totals.
void emit_stages(const RankContext& context, RankDraft& draft);

}  // namespace stagewright
