#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// PipeDream (Narayanan et al. 2019): 1F1B that never flushes.  Each micro-batch is an update; its
/// backward uses the weights of its forward, so rank r keeps P - r versions.  The order is one
/// stretch of M micro-batches, as 1F1B; in steady state no rank idles.
[[nodiscard]] ScheduleGenerator pipedream_schedule();
/// PipeDream-2BW (Narayanan et al. 2021): the same order, but weights change once per M >= P
/// micro-batches, so two versions are enough: all of a group use those before the newest.  The
/// group is the parameter "update_every", a divisor of M; all M if it is absent.
[[nodiscard]] ScheduleGenerator pipedream_2bw_schedule();

}  // namespace stagewright
