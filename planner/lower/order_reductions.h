#pragma once

#include <vector>

#include "core/schedule/pipeline_order.h"
#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Pass: by pipeline rank, the reductions in list order, each as early as it can be: behind the
/// last backward that adds to the bucket.  Ranks that share weights reduce them in one order, that
/// of the last rank to be ready; what comes earlier on one of them waits there.  Where weights
/// change in the middle of the list, a bucket is reduced before each update.  Buckets without
/// collectives are left out.  After bucket_gradients of all ranks.
[[nodiscard]] std::vector<std::vector<BucketAction>> order_reductions(
    const PipelineOrder& order, const std::vector<RankDraft>& drafts);

}  // namespace stagewright
