#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// Schedules with controllable memory on a V of two stages per rank (Qi et al. 2024): every
/// micro-batch repeats one block of forwards and split backwards, six slots after the one before,
/// so the peak is the time that its activations live divided by the period.

/// V-Half: P + 2 activations of a stage for even P, P + 1 for odd, about half of 1F1B's 2P.
[[nodiscard]] ScheduleGenerator v_half_schedule();
/// V-Min: about a third of 1F1B's for many ranks.
[[nodiscard]] ScheduleGenerator v_min_schedule();

}  // namespace stagewright
