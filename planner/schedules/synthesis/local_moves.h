#pragma once

#include <cstdint>
#include <random>

#include "planner/schedules/synthesis/order_clock.h"

namespace stagewright::synthesis {

struct LocalSearchLimits {
  std::int64_t steps = 0;        ///< of lists timed, in sum over all lists tried
  std::int64_t good_enough = 0;  ///< a lower bound of the objective: reached, the search ends
};

/// Improves an order: swaps neighbours and shifts steps, single ones on the critical path or all of
/// a kind alike; accepts what is not worse than what it had some moves ago (late acceptance,
/// Burke and Bykov 2017), and returns the best that it met.  REQUIRES: lists that run within the
/// caps.
[[nodiscard]] StepLists improve(const StepTable& table,
                                StepLists lists,
                                const LocalSearchLimits& limits,
                                std::mt19937& engine);

}  // namespace stagewright::synthesis
