#include "planner/search/closed_form.h"

#include <algorithm>
#include <numeric>

#include "core/base/longest_time.h"

namespace stagewright {
namespace {

/// Whether a step's work adds up in picoseconds.  What does not is left to the simulation, which
/// says so.
bool fits_clock(const SpacePoint& point, const LayerCosts& costs) {
  double seconds = 0;
  for (std::size_t i = 0; i < costs.layers.size(); ++i) {
    seconds += to_seconds(costs.optimizer[i]) +
               static_cast<double>(point.micro_batches) *
                   (to_seconds(costs.layers[i].forward) + to_seconds(costs.layers[i].backward));
  }
  return seconds <= kLongestSeconds;
}

/// Layers by stage, the first ones with one more where they cannot be equal.
std::vector<std::int32_t> even_cut(std::size_t layers, std::int32_t stages) {
  const auto count = static_cast<std::int32_t>(layers);
  std::vector<std::int32_t> cut(static_cast<std::size_t>(stages), count / stages);
  for (std::int32_t s = 0; s < count % stages; ++s) {
    ++cut[static_cast<std::size_t>(s)];
  }
  return cut;
}

/// Micro-batches whose activations stage i of n holds at once (report of 1F1B: min(P - r, M)).
std::int32_t in_flight(const SpacePoint& point, std::int32_t stage) {
  return point.schedule == "1f1b" ? std::min(point.pp - stage, point.micro_batches)
                                  : point.micro_batches;
}

/// All devices that replicas of one tensor position of a stage occupy under the default rank order:
/// tensor fastest, then data, then pipeline.
GroupGeometry data_geometry(const Cluster& cluster, const SpacePoint& point) {
  std::vector<std::vector<DeviceId>> groups;
  for (std::int32_t t = 0; t < point.tp; ++t) {
    std::vector<DeviceId> members;
    for (std::int32_t d = 0; d < point.dp; ++d) {
      members.emplace_back(d * point.tp + t);
    }
    groups.push_back(std::move(members));
  }
  return geometry_of(cluster, groups.front(), groups);
}

GroupGeometry border_geometry(const Cluster& cluster, const SpacePoint& point) {
  const std::int32_t next = point.dp * point.tp;
  std::vector<std::vector<DeviceId>> pairs;
  for (std::int32_t rank = 0; rank < next; ++rank) {
    pairs.push_back({DeviceId(rank), DeviceId(rank + next)});
  }
  return geometry_of(cluster, pairs.front(), pairs);
}

Bytes largest_state(const PartitionProblem& problem, Bytes& state) {
  // The most even placement that memory knows: cut by memory alone, where every layer "takes" its
  // bytes.
  PartitionProblem by_bytes = problem;
  by_bytes.capacity.reset();
  for (LayerCost& layer : by_bytes.layers) {
    layer.forward = Duration(layer.state.count() + layer.saved.count() * problem.in_flight.front());
    layer.backward = Duration{};
  }
  const auto cut = partition(by_bytes);
  Bytes largest{};
  std::size_t layer = 0;
  for (std::size_t s = 0; s < cut->layers.size(); ++s) {
    Bytes own_state{};
    Bytes own_saved{};
    for (std::int32_t i = 0; i < cut->layers[s]; ++i, ++layer) {
      own_state += problem.layers[layer].state;
      own_saved += problem.layers[layer].saved;
    }
    const Bytes total = own_state + own_saved * problem.in_flight[s];
    if (total > largest) {
      largest = total;
      state = own_state;
    }
  }
  return largest;
}

}  // namespace

ClosedForm::ClosedForm(const Cluster& cluster, const CostModel& cost, double memory_share)
    : cluster_(&cluster), cost_(&cost) {
  const DeviceType& device = cluster.types.front();
  capacity_ =
      Bytes(static_cast<std::int64_t>(static_cast<double>(device.memory.count()) * memory_share)) -
      device.context;
}

PartitionProblem ClosedForm::problem_of(const SpacePoint& point, const LayerCosts& costs) const {
  PartitionProblem problem{.layers = costs.layers, .in_flight = {}, .capacity = capacity_};
  for (std::int32_t stage = 0; stage < point.pp; ++stage) {
    problem.in_flight.push_back(in_flight(point, stage));
  }
  if (point.pp == 1) {
    problem.layers.back().state -= costs.tied;
  }
  return problem;
}

Duration ClosedForm::bound_of(const SpacePoint& point,
                              const LayerCosts& costs,
                              const std::vector<std::int32_t>& stage_layers) const {
  const Duration border =
      point.pp == 1 ? Duration{}
                    : cost_->transfer(costs.border, border_geometry(*cluster_, point)).time;
  std::optional<GroupGeometry> replicas;
  if (point.dp > 1) {
    replicas = data_geometry(*cluster_, point);
  }
  Duration bound{};
  Duration head{};  // the first micro-batch on its way down to this stage
  Duration tail{};  // the last gradient on its way up from it
  Duration first_reduction{};
  Duration step = Duration::max();
  std::size_t layer = 0;
  for (std::size_t s = 0; s < stage_layers.size(); ++s) {
    LayerCost stage;
    const Duration trailing = costs.layers[layer].trailing;
    Duration optimizer{};
    Bytes gradients{};
    for (std::int32_t i = 0; i < stage_layers[s]; ++i, ++layer) {
      stage.forward += costs.layers[layer].forward;
      stage.backward += costs.layers[layer].backward;
      optimizer += costs.optimizer[layer];
      gradients += costs.gradients[layer];
    }
    Duration reduction{};
    if (replicas) {
      Operation op;
      op.kind = OpKind::kAllReduce;
      op.variant = OpVariant::kSum;
      op.dtype = DType::kFloat32;
      op.shape.cols = gradients.count() / size_of(op.dtype).count();
      reduction = cost_->collective(op, *replicas).time;
    }
    if (s == 0) {
      first_reduction = reduction;
    }
    const Duration work = point.micro_batches * (stage.forward + stage.backward);
    const Duration up = s == 0 ? Duration{} : tail - trailing;
    bound = std::max(bound, head + work + std::max(reduction, up + first_reduction));
    step = std::min(step, optimizer);
    head += stage.forward + border;
    tail += stage.backward - costs.layers[layer - 1].leading - (s == 0 ? Duration{} : trailing) +
            border;
  }
  return bound + step;
}

std::optional<Estimate> ClosedForm::evaluate(const SpacePoint& point,
                                             const LayerCosts& costs,
                                             Overflow& overflow) const {
  if (!fits_clock(point, costs)) {
    return Estimate{even_cut(costs.layers.size(), point.pp), from_seconds(kLongestSeconds)};
  }
  const PartitionProblem problem = problem_of(point, costs);
  const auto cut = partition(problem);
  if (!cut) {
    overflow.capacity = std::max(capacity_, Bytes{});
    overflow.needed = largest_state(problem, overflow.state);
    return std::nullopt;
  }
  return Estimate{cut->layers, bound_of(point, costs, cut->layers)};
}

}  // namespace stagewright
