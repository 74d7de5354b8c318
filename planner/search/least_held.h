#pragma once

#include <cstdint>

#include "planner/search/plan_point.h"

namespace stagewright {

/// Micro-batches whose activations a pipeline rank holds at once at least, in units of all of its
/// stages.
[[nodiscard]] double least_in_flight(const PlanPoint& point, std::int32_t rank);
/// Beside these, stages of micro-batches whose weight gradients wait.
[[nodiscard]] double least_waiting(const PlanPoint& point, std::int32_t rank);

}  // namespace stagewright
