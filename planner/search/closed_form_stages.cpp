// What the bound of a schedule's own order (schedule_bound.h) asks of a point.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "planner/search/closed_form.h"
#include "planner/search/replica_load.h"

namespace stagewright {

/// The hidden part of all that a rank reduces is spread over its stages alike, and is a smaller
/// share of more: what is left out here (tied weights, divisions into buckets) hides none of this.
std::vector<Duration> ClosedForm::stage_reductions(const PlanPoint& point,
                                                   const PointCosts& costs,
                                                   const std::vector<StageSum>& stages,
                                                   const Exchange& exchange) {
  const OpKind kind = point.zero == 0 ? OpKind::kAllReduce : OpKind::kReduceScatter;
  std::vector<Duration> reductions;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const bool ties = s == 0 || s + 1 == stages.size();
    const Bytes own = stages[s].sum.gradients - (ties ? costs.plain->tied.gradients : Bytes{});
    reductions.push_back(exchange.replicas->of(kind, std::max(own, Bytes{})));
  }
  const std::vector<std::int32_t>& rank_of = placement_of(point).front();
  for (std::int32_t rank = 0; rank < point.pp; ++rank) {
    Duration whole{};
    Duration cover{};
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (rank_of[s] == rank) {
        whole += reductions[s];
        cover += stages[s].sum.backward;
      }
    }
    if (whole == Duration{}) {
      continue;
    }
    const double exposed =
        to_seconds(exposed_load(whole, machine_.rules.reduction_hidden, cover)) / to_seconds(whole);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (rank_of[s] == rank) {
        reductions[s] = from_seconds(to_seconds(reductions[s]) * exposed);
      }
    }
  }
  return reductions;
}

Estimate ClosedForm::recomputing(const PlanPoint& point,
                                 const Estimate& estimate,
                                 std::int32_t again) {
  const PointCosts costs = costs_of(point);
  Estimate more = estimate;
  more.recomputed.clear();
  for (const std::int32_t layers : estimate.stage_layers) {
    more.recomputed.push_back(std::min(layers, again));
  }
  const Profile profile = make_profile(point, more.stage_layers, more.recomputed);
  Exchange exchange = exchange_of(point, costs.plain->border);
  more.bound.time = time_of(point, profile.stages, exchange);
  more.bound.memory = memory_of(point, profile.stages, point.zero, &more.state);
  return more;
}

StageCosts ClosedForm::stage_costs(const PlanPoint& point, const Estimate& estimate) {
  const PointCosts costs = costs_of(point);
  Exchange exchange = exchange_of(point, costs.plain->border);
  const Profile profile = make_profile(point, estimate.stage_layers, estimate.recomputed);
  StageCosts stages;
  const bool split = generator_of(point).splits_backward;
  const std::vector<StageSum> sums = stage_sums(costs, estimate.stage_layers, estimate.recomputed);
  for (const StageSum& stage : sums) {
    stages.forward.push_back(stage.sum.forward);
    stages.backward.push_back(stage.sum.backward);
    stages.backward_input.push_back(stage.sum.input);
    stages.backward_weight.push_back(stage.sum.weight);
    stages.leading.push_back(stage.leading);
    stages.input_leading.push_back(stage.input_leading);
    stages.trailing.push_back(stage.trailing);
    stages.saved.push_back(stage.sum.saved);
    stages.saved_for_weight.push_back(stage.sum.saved_for_weight);
    stages.pending.push_back(stage.sum.pending);
    stages.working.push_back(split ? stage.input_working : stage.working);
  }
  stages.border = exchange.border;
  stages.least_lag = exchange.border -
                     std::max(*std::ranges::max_element(stages.leading),
                              *std::ranges::max_element(stages.input_leading)) -
                     *std::ranges::max_element(stages.trailing);
  stages.update = update_of(point, profile.stages, exchange);
  stages.stretch = least_stretch(machine_, point.devices());
  for (const RankProfile& rank : profile.stages.ranks) {
    const bool first = !split && profile.stages.copies == 1;
    const Bytes gradients = first ? rank.first_gradients : rank.least_gradients;
    stages.behind.push_back(reduction(point, gradients, exchange) +
                            between_copies(profile.stages, rank, exchange));
    stages.held.push_back(state_of(point, rank, point.zero) + job_.context);
  }
  if (machine_.rules.collectives_block && exchange.replicas != nullptr && point.zero <= 2 &&
      profile.stages.copies == 1) {
    stages.reduction = stage_reductions(point, costs, sums, exchange);
    stages.reduces_often = point.zero == 2;
  }
  return stages;
}

}  // namespace stagewright
