#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/pipeline_order.h"
#include "planner/search/layer_costs.h"

namespace stagewright {

/// Costs of the layers of a point: as they are, and with recomputation of all of them.
struct PointCosts {
  const LayerCosts* plain = nullptr;
  const LayerCosts* again = nullptr;  ///< null: nothing is recomputed in part
};

/// A stage's sums over its layers, with what its ends contribute to the gradient's way.
struct StageSum {
  LayerCost sum;
  Duration leading{};        ///< of its last layer
  Duration input_leading{};  ///< of its last layer
  Duration trailing{};       ///< of its first layer
  Bytes working{};           ///< of its last layer
  Bytes input_working{};     ///< of its last layer
};
/// `recomputed`: of each stage's first layers, of which costs.again holds; empty: none.
[[nodiscard]] std::vector<StageSum> stage_sums(const PointCosts& costs,
                                               const std::vector<std::int32_t>& stage_layers,
                                               const std::vector<std::int32_t>& recomputed);

/// What a pipeline rank does and holds under a cut and a placement, per micro-batch of one copy of
/// the pipeline, in sums that no longer know layers.
struct RankProfile {
  Duration work{};        ///< forward and backward of its stages
  Duration backward{};    ///< part of it
  Duration split_work{};  ///< the same with its backwards in halves
  Duration
      forward_input{};  ///< forward and the input half of its backward, or all of it if shorter
  Duration head{};      ///< forwards before its first stage
  Duration up{};        ///< from its last gradient to that of stage 0 (closed_form.h)
  Duration up_input{};  ///< the same over input halves alone
  std::int32_t borders = 0;  ///< that a micro-batch crosses before its first stage
  Duration first_forward{};  ///< of its first stage
  Duration optimizer{};
  Bytes parameters{};
  Bytes gradients{};        ///< of all its stages
  Bytes least_gradients{};  ///< of the stage with the fewest
  Bytes first_gradients{};  ///< of its first stage
  Bytes own_gradients{};    ///< of weights that no other stage holds
  Bytes own_parameters{};
  Bytes optimizer_state{};
  Bytes least_parameters{};  ///< of the stage with the fewest
  Bytes saved{};             ///< by a micro-batch on all its stages
  Bytes least_saved{};       ///< by a micro-batch on the stage where that is least
  Bytes most_saved{};        ///< the same where it is most
  Bytes least_waiting{};     ///< for the weight half of a stage's backward, where that is least
  Bytes working{};           ///< at least, when its first backward begins
  Bytes input_working{};     ///< the same where that is an input half
};

struct StageProfile {
  std::vector<RankProfile> ranks;
  std::int32_t copies = 1;
  /// Ranks that a step's time depends on: of neighbours that work and exchange alike, one that
  /// begins and comes back last.
  std::vector<std::int32_t> latest;
  /// The first rank of each run of ranks that hold alike.
  std::vector<std::int32_t> first_alike;
};

/// `placement` as PipelineOrder's: [copy][stage] = rank; the rest as for stage_sums().
[[nodiscard]] StageProfile stage_profile(const PointCosts& costs,
                                         const std::vector<std::int32_t>& stage_layers,
                                         const std::vector<std::int32_t>& recomputed,
                                         const std::vector<std::vector<std::int32_t>>& placement,
                                         std::int32_t ranks);

}  // namespace stagewright
