#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/schedule/schedule.h"
#include "planner/search/distinct_layers.h"
#include "planner/search/layer_costs.h"
#include "sim/cost/phase_price.h"

namespace stagewright {

/// A rank that holds one example of each distinct layer and runs one micro-batch.
struct ExampleRank {
  Schedule schedule;
  RankPlace place;  ///< its tensor group on the first devices

  [[nodiscard]] const RankProgram& program() const {
    return schedule.programs[schedule.ranks.front().program.index()];
  }
};

/// One example of each distinct layer of a model, lowered for one tensor degree, micro-batch size
/// and recompute choice, wherever the tensor group sits.
struct LayerExamples {
  ExampleRank whole;             ///< with whole backwards
  ExampleRank split;             ///< with backwards in halves
  std::vector<LayerCost> costs;  ///< by example, without the times that a place decides
};

/// The distinct layers of a model as they are lowered here: their weights are tied to none.
[[nodiscard]] DistinctLayers example_layers(const ModelGraph& model);

/// `distinct`: example_layers(); `shape` and errors of lowering as for layer_costs().
[[nodiscard]] Result<LayerExamples> layer_examples(const DistinctLayers& distinct,
                                                   const Cluster& cluster,
                                                   const CostModel& cost,
                                                   const Plan& shape);

}  // namespace stagewright
