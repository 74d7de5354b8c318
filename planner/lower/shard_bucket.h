#pragma once

#include <vector>

#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Divides what belongs to a bucket among the replicas, as its BucketUse::sharding says.  The
/// weights become windows into one flat tensor, laid out like the gradients; a reduce-scatter gives
/// each replica the sum of its part, an all-gather spreads what it has updated.
///  - kStates: reduced at the end of the step, gathered behind it.
///  - kGradients: each micro-batch has gradients of its own, which are reduced at once; the next
///    one's backward, or the step, adds what has come.
///  - kParameters: the rank keeps its part of the weights only; whole ones are gathered for a
///    micro-batch.
/// Called by bucket_gradients when the gradients have been laid out.
void shard_bucket(const RankContext& context,
                  RankDraft& draft,
                  GradientBucket& bucket,
                  BucketUse& use);

/// Adds what the last reduction of each bucket of a stage has brought to the rank's sums; of the
/// weight half of a backward.
[[nodiscard]] std::vector<Operation> add_received(const RankDraft& draft, StageId stage);

/// What the backward of a stage begins with: add_received, and zeros for the gradients of its
/// micro-batch.
[[nodiscard]] std::vector<Operation> begin_gradients(const RankDraft& draft, StageId stage);

}  // namespace stagewright
