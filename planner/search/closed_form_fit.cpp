// Cuts and recomputation that make a point fit its devices.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "planner/schedules/registry.h"
#include "planner/search/closed_form.h"
#include "planner/search/least_held.h"
#include "planner/search/sharded_state.h"

namespace stagewright {

std::optional<ClosedForm::Profile> ClosedForm::recomputed_evenly(const PlanPoint& point,
                                                                 const Profile& profile) {
  const std::int32_t most = *std::ranges::max_element(profile.stage_layers);
  // The cut is that of time alone, so that it is the one of points which name the number.
  const auto with = [&](std::int32_t again) -> const Profile& {
    PlanPoint named = point;
    named.recompute_fits = false;
    named.recompute_layers = again;
    return profile_of(named);
  };
  const auto fits = [&](const Profile& tried) {
    return memory_of(point, tried.stages, point.zero, nullptr) <= job_.capacity + job_.context;
  };
  std::int32_t too_few = 0;
  std::int32_t enough = most;
  if (!fits(with(enough))) {
    return std::nullopt;
  }
  while (enough - too_few > 1) {
    const std::int32_t middle = (too_few + enough) / 2;
    (fits(with(middle)) ? enough : too_few) = middle;
  }
  return with(enough);
}

std::optional<ClosedForm::Profile> ClosedForm::recomputed_in(const PlanPoint& point,
                                                             const PartitionProblem& problem) {
  const Profile& profile = profile_of(point);
  std::vector<std::int32_t> recomputed;
  std::size_t layer = 0;
  for (std::size_t s = 0; s < profile.stage_layers.size(); ++s) {
    const auto end = layer + static_cast<std::size_t>(profile.stage_layers[s]);
    PartitionProblem stage{.layers = {},
                           .in_flight = {problem.in_flight[s]},
                           .capacity = problem.capacity,
                           .recompute = true};
    for (; layer < end; ++layer) {
      stage.layers.push_back(problem.layers[layer]);
    }
    const auto cut = partition(stage);
    if (!cut) {
      return std::nullopt;
    }
    recomputed.push_back(cut->recomputed.front());
  }
  return make_profile(point, profile.stage_layers, std::move(recomputed));
}

std::optional<ClosedForm::Profile> ClosedForm::fitting(const PlanPoint& point, Bytes capacity) {
  const bool one_each = point.virtual_stages == 1 && profile_of(point).stages.copies == 1;
  if (!one_each) {
    return point.recompute_fits ? recomputed_evenly(point, profile_of(point)) : std::nullopt;
  }
  const PointCosts costs = costs_of(point);
  PartitionProblem problem{
      .layers = {}, .in_flight = {}, .capacity = capacity, .recompute = point.recompute_fits};
  for (std::size_t i = 0; i < costs.plain->layers.size(); ++i) {
    const LayerCost& layer = costs.plain->layers[i];
    PartitionLayer part{.time = layer.time(), .state = {}, .saved = layer.saved};
    part.state = sharded_state(
        layer.parameters, layer.gradients, layer.optimizer_state, point.zero, point.dp);
    part.saved_again = layer.saved;
    if (costs.again != nullptr) {
      const LayerCost& again = costs.again->layers[i];
      part.time_again = std::max(Duration{}, again.time() - layer.time());
      part.saved_again = std::min(layer.saved, again.saved);
    }
    problem.layers.push_back(part);
  }
  if (point.pp == 1) {
    problem.layers.back().state -= costs.plain->tied.parameters + costs.plain->tied.gradients +
                                   costs.plain->tied.optimizer_state;
    problem.layers.back().state = std::max(problem.layers.back().state, Bytes{});
  }
  // What the last layer of a stage works with, as far as all have it in common.
  const auto& all = costs.plain->layers;
  const bool split =
      schedule_generators()[static_cast<std::size_t>(point.schedule)].splits_backward;
  const auto of_layer = split ? &LayerCost::input_working : &LayerCost::working;
  const Bytes working = (*std::ranges::min_element(all, {}, of_layer)).*of_layer;
  *problem.capacity -= working;
  problem.layers.back().state += all.back().*of_layer - working;
  for (std::int32_t stage = 0; stage < point.pp; ++stage) {
    problem.in_flight.push_back(least_in_flight(point, stage));
  }
  if (point.cut != kBalancedCut) {
    return point.recompute_fits ? recomputed_in(point, problem) : std::nullopt;
  }
  auto cut = partition(problem);
  if (!cut) {
    return std::nullopt;
  }
  return make_profile(
      point,
      std::move(cut->layers),
      point.recompute_fits ? std::move(cut->recomputed) : std::vector<std::int32_t>{});
}

namespace {

PlanPoint fitted_alike(PlanPoint point) {
  point.rank_order = 0;
  point.zero = 0;
  point.shard_group = 0;
  point.bucket_megabytes = 0;
  return point;
}

}  // namespace

const std::optional<ClosedForm::Profile>& ClosedForm::fitted(const PlanPoint& point) {
  const PlanPoint alike = fitted_alike(point);
  if (alike != fitted_.point) {
    fitted_ = {.point = alike, .profiles = {}};
  }
  const auto [found, is_new] = fitted_.profiles.try_emplace({point.zero, tensor_place(point)});
  if (!is_new) {
    return found->second;
  }
  // The partition knows nothing of weight halves that wait, nor of what is whole while a stage is
  // at work: where these are too much, less is left for the rest.
  const Bytes usable = job_.capacity + job_.context;
  Bytes room = job_.capacity;
  for (int cut = 0; cut < kMostCuts; ++cut) {
    std::optional<Profile> profile = fitting(point, room);
    if (!profile) {
      break;
    }
    const Bytes held = memory_of(point, profile->stages, point.zero, nullptr);
    if (held <= usable) {
      found->second = std::move(profile);
      break;
    }
    room -= held - usable;
  }
  return found->second;
}

bool ClosedForm::unfit(const PlanPoint& point) const {
  if (fitted_alike(point) != fitted_.point) {
    return false;
  }
  // Where tensor groups are changes times, not memory.
  const auto first =
      fitted_.profiles.lower_bound({point.zero, std::numeric_limits<std::int64_t>::min()});
  return first != fitted_.profiles.end() && first->first.first == point.zero && !first->second;
}

}  // namespace stagewright
