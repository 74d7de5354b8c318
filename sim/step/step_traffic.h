#pragma once

#include <cstdint>

#include "core/model/op.h"
#include "core/training/training_setup.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/step_constants.h"

namespace stagewright {

/// Where the members of one kind of group sit when ranks fill the cluster tensor-parallel first,
/// then context, data and pipeline: `members` of them, `stride` devices apart.  All groups of the
/// kind use the node's ports at once.
[[nodiscard]] GroupGeometry strided_group(const TrainingSetup& setup,
                                          const StepConstants& constants,
                                          std::int64_t members,
                                          std::int64_t stride);

/// Seconds of a collective alone (sim/cost/analytical_links.h), in `pieces` equal buckets.
/// Each piece between nodes adds the calibrated latency per node of the ring.
[[nodiscard]] double traffic_seconds(OpKind kind,
                                     double bytes,
                                     const GroupGeometry& group,
                                     const StepConstants& constants,
                                     double pieces = 1);

/// A message to the rank `distance` devices further.
[[nodiscard]] double message_seconds(double bytes,
                                     const TrainingSetup& setup,
                                     const StepConstants& constants,
                                     std::int64_t distance);

}  // namespace stagewright
