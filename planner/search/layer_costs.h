#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "planner/search/partition.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// Per-layer costs of a model for one tensor degree, micro-batch size and recompute choice, from
/// lowering and pricing one example of each distinct layer: repeated layers cost nothing more.
struct LayerCosts {
  std::vector<LayerCost> layers;    ///< one per layer of the model
  std::vector<Duration> optimizer;  ///< per layer: its share of the optimizer step
  std::vector<Bytes> gradients;     ///< per layer: what the data-parallel reduction moves
  Bytes tied{};    ///< state counted in the last layer that a stage holding both ends saves
  Bytes border{};  ///< activation that crosses a stage border per micro-batch
};

/// `shape` fixes tp, micro_batch_size, sequence, precision, optimizer and the recompute choice of
/// its first stage; its other fields do not matter.  Fails as lower() does (heads not divisible by
/// tp, ...).
[[nodiscard]] Result<LayerCosts> layer_costs(const ModelGraph& model,
                                             const Cluster& cluster,
                                             const CostModel& cost,
                                             const Plan& shape);

}  // namespace stagewright
