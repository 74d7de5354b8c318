#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

/// A weight of the model.
struct WeightId {
  LayerId layer;
  std::size_t index = 0;  ///< into Layer::weights
  auto operator<=>(const WeightId&) const = default;
};

/// The weight that `LayerWeight::tied_to` of this weight names, or itself.
[[nodiscard]] WeightId tie_root(const ModelGraph& model, WeightId weight);

/// Pipeline ranks of which each holds a copy of the same weights, and sums their gradients with the
/// others before the step.
struct WeightSharing {
  std::string kind;  ///< label of the group: "tie", or "copies" where stages are there twice
  std::vector<std::int32_t> pipeline_ranks;  ///< at least two, ascending
  friend bool operator==(const WeightSharing&, const WeightSharing&) = default;
};

/// Who shares what.
struct SharedWeights {
  std::vector<WeightSharing> sharings;        ///< ascending by ranks, each set of ranks once
  std::map<WeightId, std::size_t> of_weight;  ///< by root of the weight, into sharings
  friend bool operator==(const SharedWeights&, const SharedWeights&) = default;
};

/// Weights that several pipeline ranks hold: tied ones used on different ranks, and all of an order
/// with two copies of each stage.  What lies on one rank shares one tensor and is not listed.
[[nodiscard]] SharedWeights find_shared_weights(const ModelGraph& model,
                                                const Plan& plan,
                                                const PipelineOrder& order);

}  // namespace stagewright
