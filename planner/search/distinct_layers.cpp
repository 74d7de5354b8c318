#include "planner/search/distinct_layers.h"

#include <optional>

namespace stagewright {
namespace {

/// As many columns come out as come in, so that the layers around it fit without it.
bool keeps_width(const Layer& layer) {
  return layer.input && layer.output &&
         layer.values[layer.input->index()].width == layer.values[layer.output->index()].width;
}

/// Equal in everything that costs: operations, values and parameter shapes, not parameter names.
bool same_kind(const Layer& a, const Layer& b) {
  if (a.role != b.role || a.values != b.values || a.ops != b.ops || a.input != b.input ||
      a.output != b.output || a.weights.size() != b.weights.size()) {
    return false;
  }
  for (std::size_t w = 0; w < a.weights.size(); ++w) {
    const LayerWeight& left = a.weights[w];
    const LayerWeight& right = b.weights[w];
    if (left.split_axis != right.split_axis || left.tied_to != right.tied_to ||
        left.parameters.size() != right.parameters.size()) {
      return false;
    }
    for (std::size_t p = 0; p < left.parameters.size(); ++p) {
      if (left.parameters[p].shape != right.parameters[p].shape) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

DistinctLayers distinct_layers(const ModelGraph& model) {
  DistinctLayers result;
  result.reduced.name = model.name;
  result.reduced.family = model.family;
  result.reduced.shape = model.shape;
  for (const Layer& layer : model.layers) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < result.reduced.layers.size() && !found; ++i) {
      if (keeps_width(layer) && same_kind(result.reduced.layers[i], layer)) {
        found = i;
      }
    }
    if (!found) {
      found = result.reduced.layers.size();
      if (*found > 0) {
        result.reduced.edges.emplace_back(LayerId(*found - 1), LayerId(*found));
      }
      result.reduced.layers.push_back(layer);
    }
    result.example_of.push_back(*found);
  }
  return result;
}

}  // namespace stagewright
