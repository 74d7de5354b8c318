// Bounds of all points below a node of the walk, before they have a cut.

#include <algorithm>

#include "core/base/divide_up.h"
#include "core/base/longest_time.h"
#include "planner/schedules/registry.h"
#include "planner/schedules/stage_layout.h"
#include "planner/search/closed_form.h"

namespace stagewright {
namespace {

Bytes divided(Bytes bytes, std::int64_t parts) {
  return Bytes(bytes.count() / parts);
}

/// Whether a step's work adds up in picoseconds.
bool fits_clock(const LayerCosts& costs, std::int32_t micro_batches) {
  const LayerCost& sum = sum_of(costs);
  return static_cast<double>(micro_batches) * to_seconds(sum.time()) + to_seconds(sum.optimizer) <=
         kLongestSeconds;
}

/// Parameters, gradients and optimizer state of all layers, tied weights left out.
Bytes untied_state(const LayerCosts& costs) {
  const LayerCost& sum = sum_of(costs);
  return sum.parameters + sum.gradients + sum.optimizer_state - costs.tied.parameters -
         costs.tied.gradients - costs.tied.optimizer_state;
}

}  // namespace

std::optional<Bound> ClosedForm::of_layers(const PlanPoint& point, bool any_recompute) {
  const bool in_part = any_recompute || point.recompute_fits || point.recompute_layers > 0;
  const Recompute quick = in_part ? Recompute::kNone : point.recompute;
  const Recompute small =
      any_recompute || point.recompute_fits ? Recompute::kFull : point.recompute;
  const auto& fast = layers_of(point, quick);
  const auto& lean = layers_of(point, small);
  if (!fast || !lean) {
    return std::nullopt;
  }
  if (!fits_clock(*fast, point.micro_batches)) {
    return Bound{.time = from_seconds(kLongestSeconds), .memory = {}};
  }
  // Two copies of a stage share its micro-batches: a rank then has halves of layers.
  const std::int64_t halves = divide_up(2 * fast->repeated, point.pp);
  const Duration work =
      std::max({sum_of(*fast).time() / point.pp, fast->longest, halves * fast->each.time() / 2});
  Bound bound;
  bound.time = stretched(point.micro_batches * work + once_a_step(machine_) + totals_of(point),
                         least_stretch(machine_, point.devices()));
  bound.memory = divided(divided(untied_state(*lean), point.dp) + sum_of(*lean).saved, point.pp) +
                 job_.context;
  return bound;
}

Duration ClosedForm::of_schedule(const PlanPoint& point) {
  if (schedule_generators()[static_cast<std::size_t>(point.schedule)].layout == two_way_layout) {
    return Duration{};
  }
  const LayerCosts& costs = *costs_of(point).plain;
  const Duration work = std::max(sum_of(costs).time() / point.pp,
                                 divide_up(costs.repeated, point.pp) * costs.each.time());
  return stretched(point.micro_batches * work + once_a_step(machine_) + totals_of(point),
                   least_stretch(machine_, point.devices()));
}

Duration ClosedForm::of_last_rank(const PlanPoint& point) {
  const ScheduleGenerator& generator = generator_of(point);
  if (generator.layout == two_way_layout || point.recompute_layers > 0) {
    return Duration{};
  }
  const LayerCosts& costs = *costs_of(point).plain;
  const std::vector<std::int32_t>& cut = unlimited_cut(point);
  const std::vector<std::int32_t>& rank_of = placement_of(point).front();
  Duration before{};  // on the way to its first stage and back
  Duration work{};
  bool begun = false;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < cut.size(); ++s) {
    const std::size_t end = begin + static_cast<std::size_t>(cut[s]);
    begun = begun || rank_of[s] == point.pp - 1;
    if (rank_of[s] == point.pp - 1) {
      work += costs.before[end].time() - costs.before[begin].time();
    } else if (!begun) {
      before += costs.before[end].forward - costs.before[begin].forward;
      if (!generator.splits_backward) {
        // Of the border behind it one end belongs to this stage, and one to the next.
        before += costs.before[end].backward - costs.before[begin].backward -
                  costs.layers[end - 1].leading - costs.layers[end].trailing;
      }
    }
    begin = end;
  }
  return stretched(point.micro_batches * work + std::max(Duration{}, before) +
                       once_a_step(machine_) + totals_of(point),
                   least_stretch(machine_, point.devices()));
}

std::optional<Bytes> ClosedForm::of_state(const PlanPoint& point) {
  const auto& costs = layers_of(point, Recompute::kNone);
  if (!costs) {
    return std::nullopt;
  }
  return divided(untied_state(*costs), std::int64_t{point.dp} * point.pp) + job_.context;
}

}  // namespace stagewright
