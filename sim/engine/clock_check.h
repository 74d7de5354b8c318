#pragma once

#include "core/base/result.h"
#include "sim/engine/event_graph.h"
#include "sim/engine/perturbation.h"
#include "sim/engine/step_graph.h"

namespace stagewright {

/// Whether the times of a step can be added up without overflow of the clock: all work and all
/// transfers of the ranks in it, one after the other, stay below kLongestSeconds.  Fails with
/// kUnsupported, saying how long the longest rank works.
[[nodiscard]] Result<void> check_clock(const StepGraph& step);

/// The same of a step in which computation takes longer, by stragglers, overhead, jitter and, while
/// its device communicates, `compute_slowdown`.  The place of the error is the option of `simulate`
/// that alone makes it too long, or all three.  REQUIRES: stragglers among the ranks.
[[nodiscard]] Result<void> check_clock(const EventGraph& graph,
                                       const Perturbation& perturbation,
                                       double compute_slowdown);

}  // namespace stagewright
