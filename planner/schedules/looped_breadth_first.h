#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// Breadth-first pipeline (Lamy-Poirier 2023): all micro-batches forward through a rank's stage
/// before its next stage, then backward in the reverse order.  Parameters are gathered once per
/// stage and direction; all V M activations are kept.
[[nodiscard]] ScheduleGenerator looped_breadth_first_schedule();

}  // namespace stagewright
