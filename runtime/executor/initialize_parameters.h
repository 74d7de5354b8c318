#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/schedule/schedule.h"
#include "runtime/executor/rank_plan.h"

namespace stagewright {

using ArenaWriter = std::function<void(std::int64_t offset, std::span<const std::byte> values)>;

/// Fills the weights of a rank, all their versions, in its arena.  Every element is a function of
/// the seed, the parameter's name (of the one that it is tied to) and its index in the whole
/// parameter, so that every layout starts from the same model.  Padding of a vocabulary is 0.
/// `write` puts bytes at an offset of the arena.
/// REQUIRES: the arena is zeroed, weights are of one or two dimensions.
void initialize_parameters(const Schedule& schedule,
                           const RankPlan& plan,
                           std::uint64_t seed,
                           const ArenaWriter& write);

}  // namespace stagewright
