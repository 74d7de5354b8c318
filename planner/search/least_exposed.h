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

/// What replicas exchange, by what may hide it.
enum class ReplicaTraffic : std::uint8_t {
  kReduction,  ///< of gradients, whole or sharded
  kGather,     ///< of updated parameters, once a step
  kSharded,    ///< of parameters and gradients that are whole for a micro-batch only
};

/// A collective that replicas share, when as much of it is hidden as the rules of the cost model
/// allow.
[[nodiscard]] Duration least_exposed(const PricedMachine& machine,
                                     ReplicaTraffic traffic,
                                     const Operation& op,
                                     const GroupGeometry& group);
/// A message between stages on its link; `copies` ranks hold the same activation.
[[nodiscard]] Duration least_exposed(const PricedMachine& machine,
                                     Bytes message,
                                     const GroupGeometry& ends,
                                     std::int32_t copies);

/// What the optimizer step of every rank takes beyond its operations.
[[nodiscard]] Duration once_a_step(const PricedMachine& machine);
/// What stragglers multiply every time by, less what the simulation may round off.
[[nodiscard]] double least_stretch(const PricedMachine& machine, std::int64_t devices);
[[nodiscard]] Duration stretched(Duration time, double stretch);

}  // namespace stagewright
