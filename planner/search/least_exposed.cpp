#include "planner/search/least_exposed.h"

#include <algorithm>
#include <cmath>

#include "sim/cost/phase_price.h"

namespace stagewright {

namespace {

double most_hidden(const ExecutionRules& rules, ReplicaTraffic traffic) {
  switch (traffic) {
    case ReplicaTraffic::kReduction:
      return rules.reduction_hidden;
    case ReplicaTraffic::kGather:
      return rules.gather_hidden;
    case ReplicaTraffic::kSharded:
      // What is hidden slows the computation down.
      return rules.sharded_hidden * std::max(0.0, 2 - rules.overlap_slowdown);
  }
  return 1;
}

}  // namespace

Duration least_exposed(const PricedMachine& machine, ReplicaTraffic traffic, Duration whole) {
  const double hidden = most_hidden(machine.rules, traffic);
  return hidden == 0 ? whole : from_seconds(to_seconds(whole) * (1 - hidden));
}

Duration least_exposed(const PricedMachine& machine,
                       Bytes message,
                       const GroupGeometry& ends,
                       std::int32_t copies) {
  RankPlace place;
  place.rules = machine.rules;
  place.activation_copies = copies;
  return message_time(message, ends, place, *machine.cost);
}

Duration once_a_step(const PricedMachine& machine) {
  return machine.rules.once_a_step;
}

double least_stretch(const PricedMachine& machine, std::int64_t devices) {
  const ExecutionRules& rules = machine.rules;
  if (rules == ExecutionRules{}) {
    return 1;
  }
  const auto each = static_cast<double>(machine.cluster->nodes.front().devices.size());
  const double nodes = std::max(1.0, static_cast<double>(devices) / each);
  // The simulation rounds every operation to a picosecond.
  constexpr double kRounding = 1e-7;
  return (1 + rules.straggle * std::log2(nodes)) * (1 - kRounding);
}

Duration stretched(Duration time, double stretch) {
  return stretch == 1 ? time : from_seconds(to_seconds(time) * stretch);
}

}  // namespace stagewright
