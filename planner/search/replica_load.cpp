#include "planner/search/replica_load.h"

#include <algorithm>

namespace stagewright {
namespace {

/// Sums of prices are rounded to picoseconds at many places.
constexpr double kRounding = 1e-6;

}  // namespace

ReplicaLoad replica_load(const PricedMachine& machine,
                         const PlanPoint& point,
                         const RankProfile& rank,
                         std::int64_t micro_batches,
                         ReplicaPrices& replicas) {
  const ExecutionRules& rules = machine.rules;
  const auto seconds = [&](OpKind kind, Bytes bytes) {
    return to_seconds(replicas.of(kind, bytes));
  };
  const auto batches = static_cast<double>(micro_batches);
  if (point.zero < 3) {
    const OpKind kind = point.zero == 0 ? OpKind::kAllReduce : OpKind::kReduceScatter;
    const double reduce = seconds(kind, point.zero == 2 ? rank.own_gradients : rank.gradients);
    const double hidden =
        std::min(rules.reduction_hidden * reduce, to_seconds(rank.backward) * (1 + kRounding));
    return {.busy = from_seconds((reduce - hidden) * (point.zero == 2 ? batches : 1)), .early = {}};
  }
  const double gather = seconds(OpKind::kAllGather, rank.own_parameters);
  const double moved = batches * (seconds(OpKind::kReduceScatter, rank.own_gradients) + gather);
  const double computed = 2 * batches * to_seconds(std::max(rank.work, rank.split_work));
  const double share = rules.sharded_hidden * std::max(0.0, 2 - rules.overlap_slowdown);
  return {.busy = from_seconds(moved - share * std::min(moved, computed)),
          .early = from_seconds(2 * gather)};
}

}  // namespace stagewright
