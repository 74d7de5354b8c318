#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/trainer/measured_trace.h"

namespace stagewright {

/// What the ranks measured, as if each had a core of its own: every instruction takes its thread
/// time, and begins as soon as what it waits for is done (executor/instruction_graph.h).  Where
/// ranks share cores, wall times say whose turn it was; these say what the plan makes of its work.
///
/// Messages and collectives take the thread time of their transfer, divided evenly among those that
/// it is for.  What a rank does between its instructions (posting, waking, recording) takes no time
/// here.  Holds the traced steps alone, numbered from 0; in each, all ranks begin at zero.
/// REQUIRES: the ranks of one schedule in order, with equally many steps, traced alike.
[[nodiscard]] std::vector<RankMeasurements> on_virtual_clock(
    std::span<const RankMeasurements> ranks);

/// Whether this machine has fewer cores than that, so that wall times say little about a rank.
[[nodiscard]] bool share_cores(std::size_t ranks);

}  // namespace stagewright
