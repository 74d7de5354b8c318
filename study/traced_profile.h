#pragma once

#include <string>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/profile/profile.h"
#include "study/traced_layers.h"

namespace stagewright {

/// The sizes at which a trace was made.
struct TracedSizes {
  std::int32_t micro_batch = 1;  ///< sequences of one forward pass
  std::int32_t sequence = 1;     ///< tokens of each
  PrecisionPlan precision;
};

/// A trace's times as a profile for plans of that model: forward and backward of every kind of
/// layer as one segment each, by what a single rank runs of it at those sizes; layers of equal
/// operations share one, of which all their times are samples.  Beside them every operation of a
/// layer with its share of the layer's time, as the roofline of the device divides it, for plans
/// that run layers otherwise: in halves, divided among ranks, again.  `cluster` has the device that
/// the trace is of.  Links stay empty.  Fails as lower() does. REQUIRES: a model of an embedding,
/// blocks and a head; a traced layer for each.
[[nodiscard]] Result<Profile> traced_profile(const ModelGraph& model,
                                             const Cluster& cluster,
                                             const TracedModel& traced,
                                             const TracedSizes& sizes);

}  // namespace stagewright
