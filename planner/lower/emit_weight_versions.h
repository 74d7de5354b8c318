#pragma once

#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Pass: for an asynchronous schedule gives each stage a program for every version of its weights,
/// the same operations on that version's tensors, and lists the updates that make them.  Other
/// schedules are left as they are.  After emit_stages and plan_updates.
void emit_weight_versions(const RankContext& context, RankDraft& draft);

}  // namespace stagewright
