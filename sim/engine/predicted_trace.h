#pragma once

#include "core/schedule/rank_classes.h"
#include "core/trace/trace.h"
#include "sim/engine/static_pass.h"
#include "sim/engine/step_graph.h"

namespace stagewright {

/// The timed step as a trace, like a measured one: an event per action, by `options` also one per
/// operation, and per action the memory of its moment.  Messages between stages stand on streams
/// behind those of the schedule: send and receive of activations, then of gradients.
[[nodiscard]] Trace predicted_trace(const Schedule& schedule,
                                    const RankClasses& classes,
                                    const StepGraph& step,
                                    const StepTimes& times,
                                    const SimulationOptions& options);

}  // namespace stagewright
