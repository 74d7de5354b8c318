#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "planner/search/least_exposed.h"
#include "planner/search/plan_point.h"
#include "planner/search/replica_prices.h"
#include "planner/search/stage_profile.h"

namespace stagewright {

/// What the exchange of replicas adds to the computation of one pipeline rank, at least.
struct ReplicaLoad {
  Duration busy{};   ///< in a step
  Duration early{};  ///< at most so much of it comes before the rank's first forward
  /// At least so much of it comes before the rank's last backward, if its backwards are whole and
  /// its stages have no copies: reductions of all stages but its first.
  Duration before_last{};
};

/// Where collectives hold computation up (ExecutionRules), which makes it a sum.  With R and G the
/// prices of one reduction and one gather of all that the rank alone holds, M micro-batches on each
/// of its stages, B the backwards of one of them and W all its computation in a step:
///
///   ZeRO 0, 1   R less what is hidden of it: a share, at most B
///   ZeRO 2      M times that
///   ZeRO 3      M (R + G), less what is hidden of it: a share of the smaller of it and W.  W is
///               taken twice, since the sums of received gradients come on top of it; they read and
///               write less than the backward that made them.
///
/// What several stages hold (tied weights) counts in ZeRO 0 and 1 alone: it moves once a step.  A
/// gather comes before the action ahead of the one that needs it, so that two of them may come
/// before the rank's first forward.  REQUIRES: machine.rules.collectives_block.
[[nodiscard]] ReplicaLoad replica_load(const PricedMachine& machine,
                                       const PlanPoint& point,
                                       const RankProfile& rank,
                                       std::int64_t micro_batches,
                                       ReplicaPrices& replicas);

/// Of collectives that hold computation up and take `whole` one after the other, what nothing
/// hides: all but that share, which is at most `cover`.  Grows with `whole`.
[[nodiscard]] Duration exposed_load(Duration whole, double hidden, Duration cover);

}  // namespace stagewright
