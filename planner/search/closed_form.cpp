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

/// Of the numbers that an optimizer step sums over all ranks: norm and loss.
constexpr Bytes kTotalsBytes{8};

/// By micro-batches on `flight` stages of a rank, at least.
double saved_by(const PlanPoint& point,
                const StageProfile& stages,
                const RankProfile& rank,
                double flight) {
  const auto bytes = [](Bytes saved) { return static_cast<double>(saved.count()); };
  if (point.virtual_stages == 1) {
    return flight * bytes(rank.saved);
  }
  // They may be on the smallest stage, but not more of them than there are micro-batches: the
  // largest are those of which the fewest are saved.
  const double all = point.micro_batches;
  const double missing = all * point.virtual_stages - flight;
  return std::max(flight * bytes(rank.least_saved),
                  all / stages.copies * bytes(rank.saved) - missing * bytes(rank.most_saved));
}

std::size_t mixed(std::size_t hash, std::uint64_t word) {
  return (hash ^ static_cast<std::size_t>(word)) * 0x9e3779b97f4a7c15U;
}

}  // namespace

const ScheduleGenerator& ClosedForm::generator_of(const PlanPoint& point) {
  return schedule_generators()[static_cast<std::size_t>(point.schedule)];
}

Bytes ClosedForm::state_of(const PlanPoint& point, const RankProfile& rank, std::int32_t zero) {
  return sharded_state(rank.parameters, rank.gradients, rank.optimizer_state, zero, point.dp);
}

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

std::int64_t ClosedForm::tensor_place(const PlanPoint& point) {
  const std::array<std::int32_t, 4> key{point.tp, point.dp, point.pp, point.rank_order};
  if (key != last_place_.first) {
    last_place_ = {key, job_.places->tensor_place(point)};
  }
  return last_place_.second;
}

const Result<LayerCosts>& ClosedForm::layers_of(const PlanPoint& point, Recompute recompute) {
  const CostCache::Key key = CostCache::key_of(point, tensor_place(point), recompute);
  for (const auto& [known, costs] : last_costs_) {
    if (costs != nullptr && known == key) {
      return *costs;
    }
  }
  const Result<LayerCosts>& costs = job_.costs->find(point, key);
  last_costs_[oldest_costs_] = {key, &costs};
  oldest_costs_ = (oldest_costs_ + 1) % last_costs_.size();
  return costs;
}

PointCosts ClosedForm::costs_of(const PlanPoint& point) {
  const bool in_part = point.recompute_fits || point.recompute_layers > 0;
  const Recompute whole = plain_recompute(point);
  const Recompute part = point.recompute_fits ? Recompute::kFull : point.recompute;
  const Result<LayerCosts>& plain = layers_of(point, whole);
  SW_CHECK(plain.has_value(), "layers that have a price");
  PointCosts costs{.plain = &*plain, .again = nullptr};
  if (in_part) {
    const Result<LayerCosts>& again = layers_of(point, part);
    SW_CHECK(again.has_value(), "layers that have a price");
    costs.again = &*again;
  }
  return costs;
}

const Error& ClosedForm::why_not(const PlanPoint& point) {
  return layers_of(point, Recompute::kNone).error();
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

ClosedForm::ProfileKey ClosedForm::key_of(const PlanPoint& point) {
  return {generator_of(point).layout,
          point.virtual_stages,
          point.cut,
          point.micro_batch_size,
          point.recompute_fits ? 3 : static_cast<std::int32_t>(point.recompute),
          point.recompute_layers,
          tensor_place(point),
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
  if (last_profile_ != nullptr && last_profile_->first == key) {
    return last_profile_->second;
  }
  const auto found = profiles_.find(key);
  if (found != profiles_.end()) {
    last_profile_ = &*found;
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
  Profile profile = make_profile(point, std::move(layers), std::move(recomputed));
  last_profile_ = &*profiles_.emplace(key, std::move(profile)).first;
  return last_profile_->second;
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
                             Exchange& exchange) {
  const bool split = generator_of(point).splits_backward;
  const std::int64_t batches = point.micro_batches / stages.copies;
  const auto reduced = [&](Bytes gradients) { return reduction(point, gradients, exchange); };
  const Duration first = reduced(stages.ranks.front().first_gradients);
  Duration bound{};
  for (const std::int32_t latest : stages.latest) {
    const RankProfile& rank = stages.ranks[static_cast<std::size_t>(latest)];
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
      if (!split && stages.copies == 1) {
        bound = std::max(bound, worked + load.before_last + rank.up + up);
      }
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

/// The totals of all gradients come before what an optimizer step does last.
Duration ClosedForm::totals_of(const PlanPoint& point) {
  const auto [known, unknown] = totals_.try_emplace(point.devices());
  if (unknown && point.devices() > 1) {
    ReplicaPrices world(machine_, job_.places->group(point.devices(), 1));
    known->second = world.of(OpKind::kAllReduce, kTotalsBytes);
  }
  return known->second;
}

Duration ClosedForm::update_of(const PlanPoint& point,
                               const StageProfile& stages,
                               Exchange& exchange) {
  Duration most{};
  Duration least = Duration::max();
  const Duration once = once_a_step(machine_);
  for (const std::int32_t latest : stages.latest) {
    const RankProfile& rank = stages.ranks[static_cast<std::size_t>(latest)];
    // Sharded state is updated by fewer and larger operations than what was priced.
    Duration own = once + (point.zero == 0 ? rank.optimizer : Duration{});
    if ((point.zero == 1 || point.zero == 2) && exchange.replicas != nullptr) {
      // Parameters may be sent out while what comes once a step lasts, if that is not held up.
      own = machine_.rules.collectives_block
                ? own + exposed_load(exchange.replicas->of(OpKind::kAllGather, rank.parameters),
                                     machine_.rules.gather_hidden,
                                     rank.backward / 2)
                : std::max(
                      own,
                      collective(
                          OpKind::kAllGather, ReplicaTraffic::kGather, rank.parameters, exchange));
    }
    most = std::max(most, own);
    least = std::min(least, own);
  }
  // Updates that clip nothing need no totals.
  const Duration totals = totals_of(point);
  return job_.clips ? totals + most : std::max(least, totals + once);
}

Bytes ClosedForm::memory_of(const PlanPoint& point,
                            const StageProfile& stages,
                            std::int32_t zero,
                            Bytes* state) const {
  Bytes fullest{};
  const bool split = generator_of(point).splits_backward;
  const auto add = [&](std::int32_t r) {
    const RankProfile& rank = stages.ranks[static_cast<std::size_t>(r)];
    const Bytes held = state_of(point, rank, zero);
    const double flight = least_in_flight(point, r) / stages.copies * point.virtual_stages;
    const double waiting =
        least_waiting(point, r) * static_cast<double>(rank.least_waiting.count());
    // Sharded gradients and weights are whole for the stage at work: in halves of backwards one
    // needs the weights, and the other makes the gradients.
    const Bytes gradients = zero >= 2 ? rank.least_gradients : Bytes{};
    const Bytes weights = zero >= 3 ? rank.least_parameters : Bytes{};
    const Bytes whole = split ? std::max(gradients, weights) : gradients + weights;
    const Bytes working = split ? rank.input_working : rank.working;
    const double others = saved_by(point, stages, rank, std::max(0.0, flight - 1));
    const double saved = saved_by(point, stages, rank, flight);
    const Bytes all = held + job_.context +
                      std::max(Bytes(static_cast<std::int64_t>(saved + waiting)) + working,
                               Bytes(static_cast<std::int64_t>(others + waiting)) + whole);
    if (all > fullest) {
      fullest = all;
      if (state != nullptr) {
        *state = held;
      }
    }
  };
  if (split) {
    // Later ranks have fewer micro-batches in flight, but more weight halves left.
    for (std::int32_t r = 0; r < point.pp; ++r) {
      add(r);
    }
  } else {
    std::ranges::for_each(stages.first_alike, add);
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

Duration ClosedForm::time_across(const PlanPoint& point, Profile& profile, Duration border) {
  const ScheduleGenerator& generator = generator_of(point);
  Bare& bare = profile.bare[(generator.splits_backward ? 2U : 0U) + (generator.pairs ? 1U : 0U)];
  if (bare.micro_batches != point.micro_batches || bare.replicas != (point.dp > 1)) {
    bare.micro_batches = point.micro_batches;
    bare.replicas = point.dp > 1;
    bare.by_border.clear();
  }
  const auto known =
      std::ranges::find(bare.by_border, border, &std::pair<Duration, Duration>::first);
  if (known != bare.by_border.end()) {
    return known->second;
  }
  // Of sharded state the least is updated.
  PlanPoint sharded = point;
  sharded.zero = point.dp > 1 ? 1 : 0;
  Exchange borders{.border = border};
  const Duration time = time_of(sharded, profile.stages, borders);
  bare.by_border.emplace_back(border, time);
  return time;
}

Duration ClosedForm::time_of_pipeline(const PlanPoint& point) {
  return time_across(point, profile_of(point), Duration{});
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
  const Duration border = point.pp > 1
                              ? least_exposed(machine_,
                                              costs_of(point).plain->border,
                                              job_.places->ends(strides_of(point).pipeline),
                                              point.tp)
                              : Duration{};
  return time_across(point, profile_of(point), border);
}

ClosedForm::Common& ClosedForm::common_of(const PlanPoint& point) {
  PlanPoint shared = point;
  shared.zero = 0;
  shared.shard_group = 0;
  shared.bucket_megabytes = 0;
  if (!common_ || common_->point != shared) {
    common_ = Common{shared, &profile_of(point), exchange_of(point, costs_of(point).plain->border)};
  }
  return *common_;
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
  if (!estimate.fits && estimate.bound.time < limit) {
    if (const std::optional<Profile>& other = fitted(point)) {
      kept = &*other;
      estimate.bound.time = time_of(point, kept->stages, common.exchange);
      estimate.bound.memory = memory_of(point, kept->stages, point.zero, &estimate.state);
      estimate.fits = true;
    }
  }
  if (estimate.fits && estimate.bound.time < limit) {
    estimate.stage_layers = kept->stage_layers;
    estimate.recomputed = kept->recomputed;
  }
  return estimate;
}

}  // namespace stagewright
