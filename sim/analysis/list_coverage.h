#pragma once

#include <optional>

#include "core/schedule/token_list.h"
#include "sim/analysis/list_fault.h"

namespace stagewright {

/// What of a list can be judged without time: indices in range, every action and transfer on the
/// rank that holds its stage, every stage's every micro-batch exactly once forward and once
/// backward, whole or in two halves; nothing else twice either; a recomputation before the backward
/// that it is for; and where there are sends or receives, both sides of every message that the
/// stages need.  The first fault in the order of ranks and places, then the first gap in the order
/// of stages and micro-batches, then of messages.  Recompute is free to stand or not.  Work grows
/// with the list, not with stages times micro-batches.
[[nodiscard]] std::optional<ListFault> find_coverage_fault(const TokenList& list);

}  // namespace stagewright
