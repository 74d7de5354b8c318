#pragma once

#include <cstdint>

#include "planner/schedules/synthesis/step_table.h"

namespace stagewright::synthesis {

/// No order is faster, whatever it holds: the most over the ranks of what has to happen before a
/// rank can start (head), its work, and what has to happen after its last step (tail).  The tail
/// is nothing where backwards may be split for nothing, as a weight half can then be last.  As
/// span: the work alone.
[[nodiscard]] std::int64_t lower_bound(const StepTable& table);

}  // namespace stagewright::synthesis
