#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
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

/// The tied weight of a model and the pipeline ranks that hold a copy of it, ascending.
struct TiedWeight {
  WeightId root;
  std::vector<std::int32_t> pipeline_ranks;
  friend bool operator==(const TiedWeight&, const TiedWeight&) = default;
};

/// Absent where nothing is tied, or all its uses are on one rank and share one tensor.
[[nodiscard]] std::optional<TiedWeight> find_tied_weight(const ModelGraph& model,
                                                         const Plan& plan,
                                                         const PipelineOrder& order);

}  // namespace stagewright
