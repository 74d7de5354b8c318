#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/schedule/pipeline_order.h"
#include "tests/integration/training/layouts.h"
#include "tests/integration/training/trained_weights.h"

namespace stagewright {

/// What one rank makes of a model whose stages see the weights of earlier updates.
struct DelayedTraining {
  std::vector<double> losses;  ///< by step
  RankWeights weights;         ///< newest ones at the end
};

/// Trains on one rank by plain SGD: each micro-batch's gradient is taken with whole weights put
/// together from the versions that the stages of an asynchronous pipeline would use, and the
/// updates are made here, outside the runtime.  `stages` names the parameters of each stage.
///  - Without one_behind (PipeDream) stage i of P sees the weights of P - 1 - i updates before, at
///    most those of the begin of the step.
///  - With it (2BW) all stages see the weights before the newest.
[[nodiscard]] DelayedTraining train_with_delays(const ModelGraph& model,
                                                const Layout& layout,
                                                const OptimizerSpec& optimizer,
                                                const WeightUpdates& updates,
                                                const std::vector<std::vector<std::string>>& stages,
                                                std::int32_t steps);

}  // namespace stagewright
