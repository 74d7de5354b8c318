#pragma once

#include "planner/schedules/synthesis/order_clock.h"

namespace stagewright::synthesis {

/// Joins halves that follow each other to whole backwards wherever the objective stays as it is:
/// fewer actions, and what they keep between the halves is not kept.
[[nodiscard]] StepLists with_whole_backwards(const StepTable& table, StepLists lists);

}  // namespace stagewright::synthesis
