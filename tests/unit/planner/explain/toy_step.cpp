#include "toy_step.h"

#include <utility>

namespace stagewright {
namespace {

constexpr double kTileFill = 128;
constexpr double kInNoTime = 1e18;  // bytes per second, and share of a rate

/// A product of (m, k) and (k, n).
double product(double peak, double m, double n, double k) {
  return 2 * m * n * (k + kTileFill) / peak;
}

LinkSpec link(const char* name, double bandwidth, double latency, std::int32_t sharing) {
  return {.name = name,
          .bandwidth = BytesPerSecond(bandwidth),
          .latency = from_seconds(latency),
          .efficiency = 1,
          .devices_per_port = sharing,
          .ramp = {}};
}

}  // namespace

Cluster toy_cluster(const ToyMachine& machine) {
  DeviceType type;
  type.name = "toy";
  type.memory = Bytes(machine.memory);
  type.memory_bandwidth = BytesPerSecond(kInNoTime);
  type.peak = {{DType::kFloat32, FlopsPerSecond(machine.peak)}};
  type.efficiency = {{OpClass::kAttention, kInNoTime},
                     {OpClass::kOptimizer, machine.optimizer / kInNoTime}};
  type.intra_node = link("inside", machine.inside, machine.latency_inside, 1);
  type.inter_node =
      link("between", machine.between, machine.latency_between, machine.devices_per_nic);
  type.capabilities = {"flash-attention"};
  Cluster cluster;
  cluster.name = "toy";
  cluster.types = {type};
  cluster.nodes.assign(
      static_cast<std::size_t>(machine.nodes),
      Node{.name = "",
           .devices = std::vector<std::int32_t>(static_cast<std::size_t>(machine.devices), 0)});
  return cluster;
}

ModelGraph ToyModel::graph() const {
  TransformerShape shape;
  shape.layers = blocks;
  shape.hidden = hidden;
  shape.heads = 8;
  shape.kv_heads = 8;
  shape.head_dim = hidden / 8;
  shape.feed_forward = 4 * hidden;
  shape.vocabulary = vocabulary;
  shape.max_sequence = sequence;
  shape.tied_embeddings = false;
  return make_transformer("toy", "test", shape).value();
}

double ToyModel::block_forward(double peak, std::int64_t tp) const {
  const auto s = static_cast<double>(sequence);
  const auto h = static_cast<double>(hidden);
  const auto t = static_cast<double>(tp);
  return product(peak, s, 3 * h / t, h) + product(peak, s, h, h / t) +
         product(peak, s, 4 * h / t, h) + product(peak, s, h, 4 * h / t);
}

double ToyModel::block_backward(double peak, std::int64_t tp) const {
  const auto s = static_cast<double>(sequence);
  const auto h = static_cast<double>(hidden);
  const auto t = static_cast<double>(tp);
  const double inputs = product(peak, s, h, 3 * h / t) + product(peak, s, h / t, h) +
                        product(peak, s, h, 4 * h / t) + product(peak, s, 4 * h / t, h);
  const double weights = product(peak, 3 * h / t, h, s) + product(peak, h, h / t, s) +
                         product(peak, 4 * h / t, h, s) + product(peak, h, 4 * h / t, s);
  return inputs + weights;
}

double ToyModel::head_forward(double peak, std::int64_t tp) const {
  const auto s = static_cast<double>(sequence);
  const auto h = static_cast<double>(hidden);
  return product(peak, s, static_cast<double>(vocabulary) / static_cast<double>(tp), h);
}

double ToyModel::head_backward(double peak, std::int64_t tp) const {
  const auto s = static_cast<double>(sequence);
  const auto h = static_cast<double>(hidden);
  const double v = static_cast<double>(vocabulary) / static_cast<double>(tp);
  return product(peak, s, h, v) + product(peak, v, h, s);
}

double ToyModel::all(double peak, std::int64_t tp) const {
  return static_cast<double>(blocks) * (block_forward(peak, tp) + block_backward(peak, tp)) +
         head_forward(peak, tp) + head_backward(peak, tp);
}

double ToyModel::activation_bytes() const {
  return 4.0 * static_cast<double>(sequence) * static_cast<double>(hidden);
}

double ToyModel::parameters() const {
  const auto h = static_cast<double>(hidden);
  return static_cast<double>(blocks) * (12 * h * h + 13 * h) +
         2 * static_cast<double>(vocabulary) * h + static_cast<double>(sequence) * h + 2 * h;
}

Plan toy_plan(const ToyModel& model, const ToyDegrees& degrees) {
  Plan plan;
  plan.model = "toy";
  plan.cluster = "toy";
  plan.sequence = static_cast<std::int32_t>(model.sequence);
  plan.precision = {.compute = DType::kFloat32};
  plan.micro_batches = degrees.micro_batches;
  plan.stages =
      even_stages(static_cast<std::int32_t>(model.blocks), degrees.pp, degrees.dp, degrees.tp);
  // The embedding goes to the first stage, the head to the last.
  for (StagePlan& stage : plan.stages) {
    ++stage.first_layer;
  }
  plan.stages.front().first_layer = 0;
  ++plan.stages.front().layers;
  ++plan.stages.back().layers;
  return plan;
}

ExplainJob toy_job(const ToyModel& model, Cluster cluster) {
  ExplainJob job{
      .model = model.graph(), .cluster = std::move(cluster), .request = {}, .prices = {}};
  job.request.sequence = static_cast<std::int32_t>(model.sequence);
  job.request.precision = {.compute = DType::kFloat32};
  job.prices = [](const Cluster&, const Plan&) -> Result<std::unique_ptr<CostModel>> {
    return make_analytical_cost();
  };
  return job;
}

}  // namespace stagewright
