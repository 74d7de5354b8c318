#pragma once

#include "core/training/training_setup.h"

namespace stagewright {

/// How many layers the stages hold (virtual stages of a rank together).
struct StageLayers {
  double first = 0;
  double last = 0;
  double middle_most = 0;  ///< largest of the others
  double middle_sum = 0;   ///< all of the others together
};

/// As `layers_on_rank` (sim/memory) divides them; or, if the framework balances, so that the
/// slowest stage is as fast as it can be.  Times of one micro-batch: a layer's, the embedding's,
/// the output layer's.
[[nodiscard]] StageLayers stage_layers(const TrainingSetup& setup,
                                       double layer,
                                       double embedding,
                                       double head);

}  // namespace stagewright
