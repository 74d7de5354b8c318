#include "planner/search/replica_load.h"

#include <algorithm>

namespace stagewright {
namespace {

/// Sums of prices are rounded to picoseconds at many places.
constexpr double kRounding = 1e-6;

/// Tied weights may be reduced last of all, so that they count with the first stage alone.
Duration before_last(const PricedMachine& machine,
                     const RankProfile& rank,
                     OpKind kind,
                     double times,
                     ReplicaPrices& replicas) {
  if (times == 1 && rank.first_gradients >= rank.own_gradients) {
    return {};
  }
  const Duration all = replicas.of(kind, rank.own_gradients);
  if (all == Duration{}) {
    return {};
  }
  const Duration exposed = exposed_load(all, machine.rules.reduction_hidden, rank.backward);
  const double share = to_seconds(exposed) / to_seconds(all);
  const Duration last = from_seconds(to_seconds(replicas.of(kind, rank.first_gradients)) * share);
  return from_seconds(std::max(0.0, times * to_seconds(exposed) - to_seconds(last)));
}

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
    const Duration reduce =
        replicas.of(kind, point.zero == 2 ? rank.own_gradients : rank.gradients);
    const double times = point.zero == 2 ? batches : 1;
    const Duration exposed = exposed_load(reduce, rules.reduction_hidden, rank.backward);
    return {.busy = from_seconds(times * to_seconds(exposed)),
            .early = {},
            .before_last = before_last(machine, rank, kind, times, replicas)};
  }
  const double gather = seconds(OpKind::kAllGather, rank.own_parameters);
  const double moved = batches * (seconds(OpKind::kReduceScatter, rank.own_gradients) + gather);
  const double computed = 2 * batches * to_seconds(std::max(rank.work, rank.split_work));
  const double share = rules.sharded_hidden * std::max(0.0, 2 - rules.overlap_slowdown);
  return {.busy = from_seconds(moved - share * std::min(moved, computed)),
          .early = from_seconds(2 * gather),
          .before_last = {}};
}

Duration exposed_load(Duration whole, double hidden, Duration cover) {
  const double seconds = to_seconds(whole);
  return from_seconds(seconds - std::min(hidden * seconds, to_seconds(cover) * (1 + kRounding)));
}

}  // namespace stagewright
