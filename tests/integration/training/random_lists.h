#pragma once

#include <random>

#include "core/schedule/schedule.h"

namespace stagewright {

/// Replaces the action lists of a schedule by random ones that no generator made: any order of the
/// micro-batches that the dependences allow, backwards whole or in two halves, receives issued long
/// before they are needed.  Found by running all pipeline ranks at random against each other, so
/// that matching messages have one order; the result validates.
///
/// REQUIRES: a lowered schedule whose programs are its pipeline ranks, one stage each.
[[nodiscard]] Schedule with_random_lists(const Schedule& schedule, std::mt19937_64& random);

}  // namespace stagewright
