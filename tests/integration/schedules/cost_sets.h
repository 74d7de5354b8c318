#pragma once

#include <array>
#include <string>

#include "sim/analysis/order_check.h"

namespace stagewright {

/// One of the cost sets of golden_times.json, per action of a stage: F = 1, B = 2.
struct CostSet {
  std::string name;
  double backward_input = 1;
  double backward_weight = 1;
  double transfer = 0;
  double last_stage = 1;  ///< factor on all that the last stage does
  double overlap = 1;
};
[[nodiscard]] const std::array<CostSet, 5>& cost_sets();

/// A second for a unit.
[[nodiscard]] PipelineCosts costs_of(const CostSet& set, std::int32_t stages);

}  // namespace stagewright
