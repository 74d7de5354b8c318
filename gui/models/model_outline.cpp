#include "gui/models/model_outline.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/model_file.h"
#include "planner/plan_job.h"
#include "planner/search/distinct_layers.h"
#include "planner/search/layer_costs.h"

namespace stagewright::gui {
namespace {

/// Of a piece of the model; see model_flops().
Flops flops_of(const ModelGraph& model,
               std::vector<LayerOp> ops,
               const Layer& layer,
               int sequence) {
  ModelGraph part;
  part.shape = model.shape;
  part.layers.push_back(layer);
  part.layers.front().ops = std::move(ops);
  return model_flops(part, sequence, sequence);
}

std::int64_t parameters_of(const Layer& layer, const LayerOp& op) {
  std::int64_t sum = 0;
  for (const std::size_t weight : op.weights) {
    if (layer.weights[weight].tied_to) {
      continue;
    }
    for (const ModelParameter& parameter : layer.weights[weight].parameters) {
      std::int64_t count = 1;
      for (const std::int64_t size : parameter.shape) {
        count *= size;
      }
      sum += count;
    }
  }
  return sum;
}

/// By layer of the model; nothing where the cluster is none, or a device alone cannot run it.
std::optional<LayerCosts> costs_of(const DataFiles& files,
                                   const PlanSetup& setup,
                                   const ModelGraph& model,
                                   std::int32_t sequence) {
  const auto cluster = cluster_of(files, setup.cluster);
  const auto cost = usual_costs(files);
  if (!cluster || !cost) {
    return std::nullopt;
  }
  Plan shape;
  shape.sequence = sequence;
  shape.stages = even_stages(static_cast<std::int32_t>(model.layers.size()), 1, 1, 1);
  if (cluster->types.front().name == "cpu") {
    shape.precision.compute = DType::kFloat32;
  }
  auto costs = layer_costs(model, *cluster, **cost, shape);
  return costs ? std::optional(*std::move(costs)) : std::nullopt;
}

OutlineLayers outline_of(const ModelGraph& model,
                         std::size_t first,
                         std::size_t count,
                         int sequence) {
  const Layer& layer = model.layers[first];
  OutlineLayers outline{.name = layer.name,
                        .count = static_cast<std::int64_t>(count),
                        .ops = {},
                        .parameters = parameter_count(layer),
                        .flops = flops_of(model, layer.ops, layer, sequence)};
  if (count > 1) {
    outline.name = fmt::format("{} to {}", layer.name, model.layers[first + count - 1].name);
  }
  for (const LayerOp& op : layer.ops) {
    outline.ops.push_back({.name = op.name,
                           .parameters = parameters_of(layer, op),
                           .flops = flops_of(model, {op}, layer, sequence)});
  }
  return outline;
}

}  // namespace

Result<ModelOutline> outline_of(const DataFiles& files, const PlanSetup& setup) {
  const auto model = find_model(files, setup.model);
  if (!model) {
    return tl::unexpected<Error>(model.error());
  }
  const std::int32_t sequence =
      setup.sequence > 0 ? setup.sequence : static_cast<std::int32_t>(model->shape.max_sequence);
  ModelOutline outline{.name = model->name,
                       .parameters = parameter_count(*model),
                       .sequence = sequence,
                       .flops = model_flops(*model, sequence, sequence),
                       .layers = {}};
  const auto costs = costs_of(files, setup, *model, sequence);
  const std::vector<std::size_t> example = distinct_layers(*model).example_of;
  for (std::size_t first = 0; first < example.size();) {
    std::size_t end = first + 1;
    while (end < example.size() && example[end] == example[first]) {
      ++end;
    }
    outline.layers.push_back(outline_of(*model, first, end - first, sequence));
    if (costs) {
      const LayerCost& cost = costs->layers[first];
      outline.layers.back().forward = cost.forward;
      outline.layers.back().backward = cost.backward;
      outline.layers.back().kept = cost.saved;
    }
    first = end;
  }
  return outline;
}

}  // namespace stagewright::gui
