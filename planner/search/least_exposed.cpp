#include "planner/search/least_exposed.h"

#include <algorithm>
#include <cmath>

#include "sim/cost/phase_price.h"

namespace stagewright {

Duration least_exposed(const PricedMachine& machine,
                       const Operation& op,
                       const GroupGeometry& group) {
  const ExecutionRules rules = machine.cost->rules(machine.cluster->types.front());
  const double hidden =
      std::max({rules.reduction_hidden, rules.gather_hidden, rules.sharded_hidden});
  const Duration whole = machine.cost->collective(op, group).time;
  return hidden == 0 ? whole : from_seconds(to_seconds(whole) * (1 - hidden));
}

Duration least_exposed(const PricedMachine& machine,
                       Bytes message,
                       const GroupGeometry& ends,
                       std::int32_t copies) {
  RankPlace place;
  place.rules = machine.cost->rules(machine.cluster->types.front());
  place.activation_copies = copies;
  return message_time(message, ends, place, *machine.cost);
}

Duration with_step_overhead(const PricedMachine& machine,
                            Duration bound,
                            Duration update,
                            std::int64_t devices) {
  const ExecutionRules rules = machine.cost->rules(machine.cluster->types.front());
  if (rules == ExecutionRules{}) {
    return bound + update;
  }
  const auto each = static_cast<double>(machine.cluster->nodes.front().devices.size());
  const double nodes = std::max(1.0, static_cast<double>(devices) / each);
  const Duration last = std::max(update, rules.once_a_step);
  // The simulation rounds every operation to a picosecond.
  constexpr double kRounding = 1e-7;
  return from_seconds(to_seconds(bound + last) * (1 + rules.straggle * std::log2(nodes)) *
                      (1 - kRounding));
}

}  // namespace stagewright
