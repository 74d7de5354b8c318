#pragma once

#include <vector>

#include "core/plan/plan.h"
#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Pass: where parameters are gathered that live only while a micro-batch needs them: each bucket
/// of a stage Plan::gather_prefetch compute actions ahead of what reads it.  What was gathered for
/// one action of a micro-batch stays for the next one where that comes within
/// Plan::gather_residency compute actions, or so soon that it would be gathered before the first is
/// done.  Ascending by slot.  After emit_stages.
[[nodiscard]] std::vector<BucketAction> place_gathers(const Plan& plan,
                                                      const RankDraft& draft,
                                                      const std::vector<Action>& compute);

}  // namespace stagewright
