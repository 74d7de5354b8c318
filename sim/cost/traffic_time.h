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

/// Copies of a token that reach so many nodes where it visits so many experts, chosen evenly, and
/// goes to each node once: those of nodes that hold any of them.  On one node a copy for each
/// expert.  Inside a node copies are then passed on at a rate beside which the network's is small.
[[nodiscard]] double copies_of_a_token(double visited, std::int32_t nodes);

}  // namespace stagewright
