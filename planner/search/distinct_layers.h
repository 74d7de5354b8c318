#pragma once

#include <cstddef>
#include <vector>

#include "core/model/model_graph.h"

namespace stagewright {

/// The model cut down to one example of each distinct layer (equal but for names), in order,
/// and which example stands for each layer of the whole.
struct DistinctLayers {
  ModelGraph reduced;
  std::vector<std::size_t> example_of;  ///< per layer of the model: index into reduced.layers
};
[[nodiscard]] DistinctLayers distinct_layers(const ModelGraph& model);

}  // namespace stagewright
