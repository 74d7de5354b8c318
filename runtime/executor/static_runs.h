#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "runtime/executor/rank_plan.h"

namespace stagewright {

/// By instruction: behind the last one of the run that begins there; 0 where none does.  A run is
/// of operations of one action that do the same in every step, one after the other, between which
/// the rank neither waits for communication nor is waited for.
///
/// `reads_back`: operations for which the host waits.  `awaited`: by instruction, whether
/// communication waits for it.
[[nodiscard]] std::vector<std::size_t> static_runs(
    const RankPlan& plan,
    const std::function<bool(const Operation&)>& reads_back,
    const std::vector<bool>& awaited);

}  // namespace stagewright
