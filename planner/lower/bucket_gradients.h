#pragma once

#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Pass: lays the gradients of each stage into flat buckets of at most Plan::bucket_size (a larger
/// gradient has one of its own), in reverse order of use, padded to a multiple of the data degree,
/// and lists the collectives that complete them.  Weights that other pipeline ranks hold, too, have
/// buckets of their own, the stage's last, so that no other gradient waits for those ranks.  After
/// assign_weights.
void bucket_gradients(const RankContext& context, RankDraft& draft);

}  // namespace stagewright
