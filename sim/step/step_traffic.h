#pragma once

#include <cstdint>

#include "core/training/training_setup.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/step_constants.h"
#include "sim/cost/traffic_time.h"

namespace stagewright {

/// Where the members of one kind of group sit when ranks fill the cluster tensor-parallel first,
/// then context, data and pipeline: `members` of them, `stride` devices apart.  All groups of the
/// kind use the node's ports at once.
[[nodiscard]] GroupGeometry strided_group(const TrainingSetup& setup,
                                          const StepConstants& constants,
                                          std::int64_t members,
                                          std::int64_t stride);

/// A message to the rank `distance` devices further.
[[nodiscard]] double message_seconds(double bytes,
                                     const TrainingSetup& setup,
                                     const StepConstants& constants,
                                     std::int64_t distance);

}  // namespace stagewright
