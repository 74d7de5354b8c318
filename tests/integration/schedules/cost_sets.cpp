#include "tests/integration/schedules/cost_sets.h"

namespace stagewright {

const std::array<CostSet, 5>& cost_sets() {
  static const std::array<CostSet, 5> all{
      CostSet{.name = "c0"},
      CostSet{.name = "c01", .transfer = 0.1},
      CostSet{.name = "uneq", .backward_input = 1.2, .backward_weight = 0.8, .transfer = 0.05},
      CostSet{.name = "last", .transfer = 0.1, .last_stage = 1.5},
      CostSet{.name = "c01_ov", .transfer = 0.1, .overlap = 0.8}};
  return all;
}

PipelineCosts costs_of(const CostSet& set, std::int32_t stages) {
  PipelineCosts costs = costs_per_stage({.forward = from_seconds(1),
                                         .backward = from_seconds(2),
                                         .backward_input = from_seconds(set.backward_input),
                                         .backward_weight = from_seconds(set.backward_weight),
                                         .transfer = from_seconds(set.transfer),
                                         .overlap = set.overlap},
                                        stages);
  for (auto* kind :
       {&costs.forward, &costs.backward, &costs.backward_input, &costs.backward_weight}) {
    kind->back() = from_seconds(to_seconds(kind->back()) * set.last_stage);
  }
  return costs;
}

}  // namespace stagewright
