#pragma once

#include <vector>

#include "planner/lower/insert_collectives.h"
#include "planner/lower/rank_draft.h"

namespace stagewright {

/// The operations of a layer's forward that have to run again before its backward: those whose
/// results `backward` reads, directly or through others.  What only the layer's output needs is
/// left out.
[[nodiscard]] std::vector<DraftOperation> operations_to_repeat(
    const std::vector<DraftOperation>& forward, const std::vector<DraftOperation>& backward);

/// All of a layer's forward.  What `backward` does not need is written to tensors of its own, since
/// others may have taken the place of the first ones.
[[nodiscard]] std::vector<DraftOperation> layer_to_repeat(
    const std::vector<DraftOperation>& forward,
    const std::vector<DraftOperation>& backward,
    RankDraft& draft);

/// The attention cores among them (Korthikanti et al. 2022, selective recomputation): what they
/// read is kept, so nothing else runs again.
[[nodiscard]] std::vector<DraftOperation> attention_to_repeat(
    const std::vector<DraftOperation>& forward, const std::vector<DraftOperation>& backward);

/// Takes out of a layer's backward the gathers that what is repeated right before it makes as well:
/// under sequence parallelism, of the inputs of projections.
void spare_repeated_gathers(const std::vector<DraftOperation>& repeated,
                            std::vector<DraftOperation>& backward);

}  // namespace stagewright
