#include "planner/lower/tied_weights.h"

#include <set>
#include <string>

#include "core/base/check.h"
#include "planner/axes/pipeline.h"

namespace stagewright {
namespace {

bool is_named(const Layer& layer, const LayerWeight& weight, const std::string& name) {
  return layer.name + "." + weight.name == name || weight.parameters.front().name == name;
}

StageId stage_of(const Plan& plan, LayerId layer) {
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    if (layer.value() < plan.stages[stage].first_layer + plan.stages[stage].layers) {
      return StageId(stage);
    }
  }
  SW_CHECK(false, "stages that cover all layers");
}

/// Every weight that is tied to another.
std::vector<WeightId> tied_weights(const ModelGraph& model) {
  std::vector<WeightId> tied;
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    const auto& weights = model.layers[layer].weights;
    for (std::size_t index = 0; index < weights.size(); ++index) {
      if (weights[index].tied_to) {
        tied.push_back({.layer = LayerId(layer), .index = index});
      }
    }
  }
  return tied;
}

}  // namespace

WeightId tie_root(const ModelGraph& model, WeightId weight) {
  const LayerWeight& tied = model.layers[weight.layer.index()].weights[weight.index];
  if (!tied.tied_to) {
    return weight;
  }
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    const auto& weights = model.layers[layer].weights;
    for (std::size_t index = 0; index < weights.size(); ++index) {
      if (!weights[index].tied_to && is_named(model.layers[layer], weights[index], *tied.tied_to)) {
        return {.layer = LayerId(layer), .index = index};
      }
    }
  }
  SW_CHECK(false, "a weight of the model that a tied weight names");
}

std::optional<TiedWeight> find_tied_weight(const ModelGraph& model,
                                           const Plan& plan,
                                           const PipelineOrder& order) {
  const std::vector<WeightId> tied = tied_weights(model);
  if (tied.empty()) {
    return std::nullopt;
  }
  const WeightId root = tie_root(model, tied.front());
  std::set<std::int32_t> ranks = {pipeline_rank_of(order, stage_of(plan, root.layer))};
  for (const WeightId weight : tied) {
    SW_CHECK(tie_root(model, weight) == root, "one tied weight in a model");
    ranks.insert(pipeline_rank_of(order, stage_of(plan, weight.layer)));
  }
  if (ranks.size() < 2) {
    return std::nullopt;
  }
  return TiedWeight{.root = root, .pipeline_ranks = {ranks.begin(), ranks.end()}};
}

}  // namespace stagewright
