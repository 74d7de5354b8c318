#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/schedule/schedule.h"
#include "runtime/executor/rank_plan.h"

namespace stagewright {

/// Fills the weights of a rank, all their versions, in its arena.  Every element is a function of
/// the seed, the parameter's name (of the one that it is tied to) and its index in the whole
/// parameter, so that every layout starts from the same model.  Padding of a vocabulary is 0.
/// REQUIRES: the arena is zeroed, weights are fp32 and of one or two dimensions.
void initialize_parameters(const Schedule& schedule,
                           const RankPlan& plan,
                           std::uint64_t seed,
                           std::span<std::byte> arena);

}  // namespace stagewright
