#pragma once

#include "core/model/op.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/step_constants.h"

namespace stagewright {

/// Seconds of a collective alone (sim/cost/analytical_links.h), in `pieces` equal buckets.
/// Each piece between nodes adds the calibrated latency per node of the ring.
[[nodiscard]] double traffic_seconds(OpKind kind,
                                     double bytes,
                                     const GroupGeometry& group,
                                     const StepConstants& constants,
                                     double pieces = 1);

/// Buckets that so many bytes of gradients or parameters are divided into, each of at most
/// `bucket`.
[[nodiscard]] double bucket_pieces(double bytes, Bytes bucket);

}  // namespace stagewright
