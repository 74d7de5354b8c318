#include "planner/search/closed_form.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "planner/schedules/registry.h"
#include "planner/schedules/stage_layout.h"
#include "planner/search/cuts.h"
#include "planner/search/equal_layers.h"
#include "planner/search/least_held.h"
#include "planner/search/replica_load.h"
#include "planner/search/replica_prices.h"
#include "planner/search/sharded_state.h"

namespace stagewright {
namespace {

const ScheduleGenerator& generator_of(const PlanPoint& point) {
  return schedule_generators()[static_cast<std::size_t>(point.schedule)];
}

/// What all layers recompute before some are told to do more.
Recompute plain_recompute(const PlanPoint& point) {
  return point.recompute_fits || point.recompute_layers > 0 ? Recompute::kNone : point.recompute;
}

/// Layers by stage of the cut whose slowest stage is fastest, whatever the memory.
std::vector<std::int32_t> fastest_cut(const LayerCosts& costs, std::int32_t stages) {
  std::vector<Duration> times;
  for (const LayerCost& layer : costs.layers) {
    times.push_back(layer.time());
  }
  if (const auto chain = equal_layers(times)) {
    return cut_equal_layers(*chain, stages);
  }
  PartitionProblem problem;
  for (const Duration time : times) {
    problem.layers.push_back({.time = time});
  }
  problem.in_flight.assign(static_cast<std::size_t>(stages), 1);
  return partition(problem)->layers;
}

std::size_t mixed(std::size_t hash, std::uint64_t word) {
  return (hash ^ static_cast<std::size_t>(word)) * 0x9e3779b97f4a7c15U;
}

Bytes state_of(const PlanPoint& point, const RankProfile& rank, std::int32_t zero) {
  return sharded_state(rank.parameters, rank.gradients, rank.optimizer_state, zero, point.dp);
}

}  // namespace

struct ClosedForm::Exchange {
  Duration border{};
  ReplicaPrices* replicas = nullptr;
  /// Two ranks that hold the same stage, nearer to each other than any such pair is.
  ReplicaPrices* copies = nullptr;
};

std::size_t ClosedForm::KeyHash::operator()(const ProfileKey& key) const {
  const auto both = [](std::int64_t high, std::int64_t low) {
    return static_cast<std::uint64_t>(high) << 32U ^ static_cast<std::uint64_t>(low);
  };
  std::size_t hash = mixed(0, reinterpret_cast<std::uintptr_t>(key.layout));
  hash = mixed(hash, both(key.virtual_stages, key.cut));
  hash = mixed(hash, both(key.micro_batch_size, key.recompute_layers));
  hash = mixed(
      hash, both(key.recompute, (key.short_transfers ? 2 : 0) + (key.sequence_parallel ? 1 : 0)));
  hash = mixed(hash, static_cast<std::uint64_t>(key.tensor_place));
  return hash ^ (hash >> 32U);
}

PointCosts ClosedForm::costs_of(const PlanPoint& point) {
  const bool in_part = point.recompute_fits || point.recompute_layers > 0;
  const Recompute whole = plain_recompute(point);
  const Recompute part = point.recompute_fits ? Recompute::kFull : point.recompute;
  const Result<LayerCosts>& plain = job_.costs->find(point, whole);
  SW_CHECK(plain.has_value(), "layers that have a price");
  PointCosts costs{.plain = &*plain, .again = nullptr};
  if (in_part) {
    const Result<LayerCosts>& again = job_.costs->find(point, part);
    SW_CHECK(again.has_value(), "layers that have a price");
    costs.again = &*again;
  }
  return costs;
}

const Error& ClosedForm::why_not(const PlanPoint& point) {
  return job_.costs->find(point, Recompute::kNone).error();
}

const std::vector<std::int32_t>& ClosedForm::unlimited_cut(const PlanPoint& point) {
  ProfileKey key = key_of(point);
  key.layout = nullptr;
  key.recompute = static_cast<std::int32_t>(plain_recompute(point));
  key.recompute_layers = 0;
  const auto found = cuts_.find(key);
  if (found != cuts_.end()) {
    return found->second;
  }
  const PointCosts costs = costs_of(point);
  const auto layers = static_cast<std::int32_t>(costs.plain->layers.size());
  std::vector<std::int32_t> cut;
  if (point.cut == kEvenCut) {
    cut = even_cut(layers, point.stages());
  } else if (point.cut >= kFirstCut) {
    cut = cut_numbered(layers, point.stages(), point.cut - kFirstCut);
  } else {
    cut = fastest_cut(*costs.plain, point.stages());
  }
  return cuts_.emplace(key, std::move(cut)).first->second;
}

ClosedForm::ProfileKey ClosedForm::key_of(const PlanPoint& point) const {
  return {generator_of(point).layout,
          point.virtual_stages,
          point.cut,
          point.micro_batch_size,
          point.recompute_fits ? 3 : static_cast<std::int32_t>(point.recompute),
          point.recompute_layers,
          job_.places->tensor_place(point),
          point.sequence_parallel,
          point.short_transfers};
}

ClosedForm::Profile ClosedForm::make_profile(const PlanPoint& point,
                                             std::vector<std::int32_t> layers,
                                             std::vector<std::int32_t> recomputed) {
  Profile profile{
      .stage_layers = std::move(layers), .recomputed = std::move(recomputed), .stages = {}};
  profile.stages = stage_profile(
      costs_of(point), profile.stage_layers, profile.recomputed, placement_of(point), point.pp);
  return profile;
}

const ClosedForm::Placement& ClosedForm::placement_of(const PlanPoint& point) {
  const Layout layout = generator_of(point).layout;
  Placement& placement = placements_[{layout, point.virtual_stages}];
  if (placement.empty()) {
    placement = layout({.ranks = point.pp,
                        .virtual_stages = point.virtual_stages,
                        .micro_batches = 2,
                        .parameters = {}})
                    .placement;
  }
  return placement;
}

ClosedForm::Profile& ClosedForm::profile_of(const PlanPoint& point) {
  const ProfileKey key = key_of(point);
  const auto found = profiles_.find(key);
  if (found != profiles_.end()) {
    return found->second;
  }
  std::vector<std::int32_t> layers = unlimited_cut(point);
  std::vector<std::int32_t> recomputed;
  if (point.recompute_fits) {
    recomputed.assign(layers.size(), 0);
  } else if (point.recompute_layers > 0) {
    for (const std::int32_t count : layers) {
      recomputed.push_back(std::min(count, point.recompute_layers));
    }
  }
  return profiles_.emplace(key, make_profile(point, std::move(layers), std::move(recomputed)))
      .first->second;
}

Duration ClosedForm::reduction(const PlanPoint& point, Bytes gradients, Exchange& exchange) const {
  if (exchange.replicas == nullptr) {
    return Duration{};
  }
  return point.zero == 3
             ? collective(OpKind::kReduceScatter, ReplicaTraffic::kSharded, gradients, exchange)
             : collective(point.zero == 0 ? OpKind::kAllReduce : OpKind::kReduceScatter,
                          ReplicaTraffic::kReduction,
                          gradients,
                          exchange);
}

Duration ClosedForm::collective(OpKind kind,
                                ReplicaTraffic traffic,
                                Bytes bytes,
                                Exchange& exchange) const {
  return least_exposed(machine_, traffic, exchange.replicas->of(kind, bytes));
}

/// Gradients of a stage's copies are summed once its rank has done all its work, before replicas
/// reduce them, and nothing hides it.
Duration ClosedForm::between_copies(const StageProfile& stages,
                                    const RankProfile& rank,
                                    Exchange& exchange) const {
  return stages.copies > 1 && exchange.replicas != nullptr
             ? exchange.copies->of(OpKind::kAllReduce, rank.least_gradients)
             : Duration{};
}

ReplicaPrices& ClosedForm::prices_of(const GroupGeometry& group) {
  const std::array<std::int32_t, 3> place{
      group.members, group.members_per_node, group.groups_per_node};
  return prices_.try_emplace(place, machine_, group).first->second;
}

ClosedForm::Exchange ClosedForm::exchange_of(const PlanPoint& point, Bytes border) {
  Exchange exchange;
  const RankStrides strides = strides_of(point);
  if (point.pp > 1) {
    exchange.border =
        least_exposed(machine_, border, job_.places->ends(strides.pipeline), point.tp);
  }
  if (point.dp > 1) {
    exchange.replicas = &prices_of(job_.places->group(point.dp, strides.data));
    exchange.copies = &prices_of(job_.places->group(2, strides.pipeline));
  }
  return exchange;
}

Duration ClosedForm::time_of(const PlanPoint& point,
                             const StageProfile& stages,
                             Exchange& exchange) const {
  const bool split = generator_of(point).splits_backward;
  const std::int64_t batches = point.micro_batches / stages.copies;
  const auto reduced = [&](Bytes gradients) { return reduction(point, gradients, exchange); };
  const Duration first = reduced(stages.ranks.front().first_gradients);
  Duration bound{};
  for (const RankProfile& rank : stages.ranks) {
    const Duration begin = rank.head + rank.borders * exchange.border;
    const Duration worked = begin + batches * rank.work;
    const Duration up = rank.borders * exchange.border + first;
    if (split) {
      const Duration before_weights = batches * rank.forward_input;
      bound = std::max({bound,
                        worked + reduced(rank.least_gradients),
                        begin + before_weights + rank.up_input + up});
    } else {
      bound = std::max({bound, worked + reduced(rank.first_gradients), worked + rank.up + up});
    }
    if (exchange.replicas == nullptr) {
      continue;
    }
    const Duration summed = between_copies(stages, rank, exchange);
    bound = std::max(bound, worked + summed);
    if (machine_.rules.collectives_block) {
      const ReplicaLoad load = replica_load(machine_, point, rank, batches, *exchange.replicas);
      const Duration busy = batches * rank.work + load.busy + summed;
      bound = std::max(bound, busy + std::max(Duration{}, begin - load.early));
    } else if (point.zero >= 2) {
      const Duration scatter = reduced(rank.own_gradients);
      const Duration gather =
          point.zero == 3
              ? collective(
                    OpKind::kAllGather, ReplicaTraffic::kSharded, rank.own_parameters, exchange)
              : Duration{};
      bound = std::max(bound, begin + batches * (scatter + gather));
    }
  }
  return stretched(bound + update_of(point, stages, exchange),
                   least_stretch(machine_, point.devices()));
}

Duration ClosedForm::update_of(const PlanPoint& point,
                               const StageProfile& stages,
                               Exchange& exchange) const {
  Duration most{};
  Duration least = Duration::max();
  const Duration once = once_a_step(machine_);
  for (const RankProfile& rank : stages.ranks) {
    // Sharded state is updated by fewer and larger operations than what was priced.
    Duration own = once + (point.zero == 0 ? rank.optimizer : Duration{});
    if ((point.zero == 1 || point.zero == 2) && exchange.replicas != nullptr) {
      const Duration gather =
          collective(OpKind::kAllGather, ReplicaTraffic::kGather, rank.parameters, exchange);
      // Parameters may be sent out while what comes once a step lasts, if that is not held up.
      own = machine_.rules.collectives_block ? own + gather : std::max(own, gather);
    }
    most = std::max(most, own);
    least = std::min(least, own);
  }
  return job_.clips ? most : least;
}

Bytes ClosedForm::memory_of(const PlanPoint& point,
                            const StageProfile& stages,
                            std::int32_t zero,
                            Bytes* state) const {
  Bytes fullest{};
  for (std::size_t r = 0; r < stages.ranks.size(); ++r) {
    const RankProfile& rank = stages.ranks[r];
    const Bytes held = state_of(point, rank, zero);
    const double flight = least_in_flight(point, static_cast<std::int32_t>(r)) / stages.copies;
    // Of several stages the smallest may be the ones in flight.
    const double saved = point.virtual_stages == 1
                             ? static_cast<double>(rank.saved.count())
                             : static_cast<double>(rank.least_saved.count()) * point.virtual_stages;
    const double waiting = least_waiting(point, static_cast<std::int32_t>(r)) *
                           static_cast<double>(rank.least_waiting.count());
    // Sharded gradients and weights are whole for the stage at work.
    const Bytes whole = (zero >= 2 ? rank.least_gradients : Bytes{}) +
                        (zero >= 3 ? rank.least_parameters : Bytes{});
    const Bytes working = generator_of(point).splits_backward ? rank.input_working : rank.working;
    const double others = std::max(0.0, flight - 1.0 / point.virtual_stages) * saved + waiting;
    const Bytes all = held + job_.context +
                      std::max(Bytes(static_cast<std::int64_t>(flight * saved + waiting)) + working,
                               Bytes(static_cast<std::int64_t>(others)) + whole);
    if (all > fullest) {
      fullest = all;
      if (state != nullptr) {
        *state = held;
      }
    }
  }
  return fullest;
}

bool ClosedForm::even_is_balanced(const PlanPoint& point) {
  if (point.cut != kEvenCut) {
    return false;
  }
  PlanPoint balanced = point;
  balanced.cut = kBalancedCut;
  return unlimited_cut(point) == unlimited_cut(balanced);
}

Bytes ClosedForm::least_memory_of(const PlanPoint& point, const StageProfile& stages) const {
  if (point.dp == 1) {
    return memory_of(point, stages, 0, nullptr);
  }
  // Gradients of two copies are summed at the end of the step alone: ZeRO 0 and 1.  Elsewhere 2 and
  // 3 hold less, but for what is whole while a stage is at work.
  const Bytes whole = memory_of(point, stages, 1, nullptr);
  return stages.copies > 1 ? whole
                           : std::min({whole,
                                       memory_of(point, stages, 2, nullptr),
                                       memory_of(point, stages, 3, nullptr)});
}

Duration ClosedForm::time_of_pipeline(const PlanPoint& point) {
  Profile& profile = profile_of(point);
  const ScheduleGenerator& generator = generator_of(point);
  Bare& bare = profile.bare[(generator.splits_backward ? 2U : 0U) + (generator.pairs ? 1U : 0U)];
  if (bare.micro_batches != point.micro_batches || bare.replicas != (point.dp > 1)) {
    // Of sharded state the least is updated.
    PlanPoint sharded = point;
    sharded.zero = point.dp > 1 ? 1 : 0;
    Exchange nothing;
    bare = {.micro_batches = point.micro_batches,
            .replicas = point.dp > 1,
            .time = time_of(sharded, profile.stages, nothing)};
  }
  return bare.time;
}

Bytes ClosedForm::memory_of_pipeline(const PlanPoint& point) {
  const Profile& profile = profile_of(point);
  // Another cut would make room, and so does what is recomputed where it fits: all at most.
  const bool movable = point.cut == kBalancedCut && point.pp > 1 && point.virtual_stages == 1 &&
                       profile.stages.copies == 1;
  if (movable) {
    return {};
  }
  PlanPoint most = point;
  if (point.recompute_fits) {
    most.recompute_fits = false;
    most.recompute_layers = *std::ranges::max_element(profile.stage_layers);
  }
  return least_memory_of(point, profile_of(most).stages);
}

Duration ClosedForm::of_rank_order(const PlanPoint& point) {
  PlanPoint sharded = point;
  sharded.zero = point.dp > 1 ? 1 : 0;
  Exchange borders;
  if (point.pp > 1) {
    borders.border = least_exposed(machine_,
                                   costs_of(point).plain->border,
                                   job_.places->ends(strides_of(point).pipeline),
                                   point.tp);
  }
  return time_of(sharded, profile_of(point).stages, borders);
}

struct ClosedForm::Common {
  PlanPoint point;
  const Profile* profile = nullptr;
  Exchange exchange;
};

ClosedForm::Common& ClosedForm::common_of(const PlanPoint& point) {
  PlanPoint shared = point;
  shared.zero = 0;
  shared.shard_group = 0;
  shared.bucket_megabytes = 0;
  if (!common_ || common_->point != shared) {
    common_ = std::make_shared<Common>(
        Common{shared, &profile_of(point), exchange_of(point, costs_of(point).plain->border)});
  }
  return *common_;
}

bool& ClosedForm::unfit(const PlanPoint& point) {
  PlanPoint shared = point;
  shared.rank_order = 0;
  shared.zero = 0;
  shared.shard_group = 0;
  shared.bucket_megabytes = 0;
  if (shared != unfit_point_) {
    unfit_point_ = shared;
    unfit_.fill(false);
  }
  return unfit_[static_cast<std::size_t>(point.zero)];
}

Estimate ClosedForm::whole(const PlanPoint& point, Duration limit) {
  Common& common = common_of(point);
  const Profile* kept = common.profile;
  Estimate estimate;
  estimate.bound.memory = memory_of(point, kept->stages, point.zero, &estimate.state);
  estimate.fits = estimate.bound.memory <= job_.capacity + job_.context;
  const bool movable = point.recompute_fits || (point.cut == kBalancedCut && point.pp > 1);
  if (!estimate.fits && (!movable || unfit(point))) {
    return estimate;
  }
  estimate.bound.time = time_of(point, kept->stages, common.exchange);
  std::optional<Profile> other;
  if (!estimate.fits && estimate.bound.time < limit) {
    other = fitting(point);
    if (other) {
      kept = &*other;
      estimate.bound.time = time_of(point, other->stages, common.exchange);
      estimate.bound.memory = memory_of(point, other->stages, point.zero, &estimate.state);
      estimate.fits = true;
    } else {
      unfit(point) = true;
    }
  }
  if (estimate.fits && estimate.bound.time < limit) {
    estimate.stage_layers = kept->stage_layers;
    estimate.recomputed = kept->recomputed;
  }
  return estimate;
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
  for (const StageSum& stage : stage_sums(costs, estimate.stage_layers, estimate.recomputed)) {
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
  return stages;
}

}  // namespace stagewright
