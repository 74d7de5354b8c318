#include "planner/lower/shared_weights.h"

#include <set>
#include <string>

#include "core/base/check.h"

namespace stagewright {
namespace {

bool is_named(const Layer& layer, const LayerWeight& weight, const std::string& name) {
  return layer.name + "." + weight.name == name || weight.parameters.front().name == name;
}

/// By root: the pipeline ranks that hold it.
std::map<WeightId, std::set<std::int32_t>> holders_of(const ModelGraph& model,
                                                      const Plan& plan,
                                                      const PipelineOrder& order) {
  std::map<WeightId, std::set<std::int32_t>> holders;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    const StagePlan& of_stage = plan.stages[stage];
    for (std::int32_t i = of_stage.first_layer; i < of_stage.first_layer + of_stage.layers; ++i) {
      const LayerId layer(i);
      for (std::size_t index = 0; index < model.layers[layer.index()].weights.size(); ++index) {
        auto& ranks = holders[tie_root(model, {.layer = layer, .index = index})];
        for (const std::vector<std::int32_t>& copy : order.placement) {
          ranks.insert(copy[stage]);
        }
      }
    }
  }
  return holders;
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

SharedWeights find_shared_weights(const ModelGraph& model,
                                  const Plan& plan,
                                  const PipelineOrder& order) {
  const std::map<WeightId, std::set<std::int32_t>> holders = holders_of(model, plan, order);
  std::map<std::set<std::int32_t>, std::size_t> sets;
  for (const auto& [root, ranks] : holders) {
    if (ranks.size() > 1) {
      sets.try_emplace(ranks);
    }
  }
  SharedWeights shared;
  for (auto& [ranks, index] : sets) {
    index = shared.sharings.size();
    shared.sharings.push_back({.kind = order.placement.size() > 1 ? "copies" : "tie",
                               .pipeline_ranks = {ranks.begin(), ranks.end()}});
  }
  for (const auto& [root, ranks] : holders) {
    if (ranks.size() > 1) {
      shared.of_weight.emplace(root, sets.at(ranks));
    }
  }
  return shared;
}

}  // namespace stagewright
