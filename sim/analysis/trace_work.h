#pragma once

#include "core/trace/trace.h"
#include "sim/analysis/step_work.h"

namespace stagewright {

/// The work of a traced step, measured or predicted: the one of median length among those after the
/// first, or the first alone where there is no other.  An optimizer step has a piece from each of
/// its collectives to the next; between them it waits.  What is waited for follows from the actions
/// (rule 7 of core/schedule/semantics.h) and their order on each rank.  A trace does not say who
/// sent a message to whom: where several ranks hold a stage they are paired in order.  Starts that
/// nothing explains are delays, so that the work takes exactly the times of the trace.
[[nodiscard]] StepWork work_of(const Trace& trace);

}  // namespace stagewright
