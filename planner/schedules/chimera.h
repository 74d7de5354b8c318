#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// Chimera (Li and Hoefler 2021): units of P micro-batches, half of them entering at each end, two
/// copies of the weights; the two pipelines fall into each other's gaps, and units follow without a
/// flush. Makespan 3M + 2(P - 2) + (M / P - 1)(P - 2) for F = 1, B = 2.  The gradients of the
/// copies are to be added up.
[[nodiscard]] ScheduleGenerator chimera_schedule();

}  // namespace stagewright
