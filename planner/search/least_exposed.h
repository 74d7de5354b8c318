#pragma once

#include <cstdint>

#include "core/cluster/cluster.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/execution_rules.h"

namespace stagewright {

/// What a bound asks prices of.  Both must outlive this object.
struct PricedMachine {
  PricedMachine(const CostModel& prices, const Cluster& devices)
      : cost(&prices), cluster(&devices), rules(prices.rules(devices.types.front())) {}

  const CostModel* cost;
  const Cluster* cluster;
  ExecutionRules rules;
};

/// What replicas exchange, by what may hide it.
enum class ReplicaTraffic : std::uint8_t {
  kReduction,  ///< of gradients, whole or sharded
  kGather,     ///< of updated parameters, once a step
  kSharded,    ///< of parameters and gradients that are whole for a micro-batch only
};

/// Of a collective that replicas share and that takes so long, what the rules of the cost model
/// let nothing hide.
[[nodiscard]] Duration least_exposed(const PricedMachine& machine,
                                     ReplicaTraffic traffic,
                                     Duration whole);
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
