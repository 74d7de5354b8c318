#pragma once

#include <cstdint>

#include "core/cluster/cluster.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// What a bound asks prices of.
struct PricedMachine {
  const CostModel* cost = nullptr;
  const Cluster* cluster = nullptr;
};

/// A collective that replicas share, when as much of it is hidden as the rules of the cost model
/// allow.
[[nodiscard]] Duration least_exposed(const PricedMachine& machine,
                                     const Operation& op,
                                     const GroupGeometry& group);
/// A message between stages on its link; `copies` ranks hold the same activation.
[[nodiscard]] Duration least_exposed(const PricedMachine& machine,
                                     Bytes message,
                                     const GroupGeometry& ends,
                                     std::int32_t copies);
/// Adds the update or what happens once a step, whichever is longer, and stragglers.
[[nodiscard]] Duration with_step_overhead(const PricedMachine& machine,
                                          Duration bound,
                                          Duration update,
                                          std::int64_t devices);

}  // namespace stagewright
