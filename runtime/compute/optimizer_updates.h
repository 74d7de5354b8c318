#pragma once

#include "runtime/compute/operands.h"

namespace stagewright {

// Operations of the optimizer on the CPU, on fp32 operands.  Updates whose totals are no numbers
// change nothing.
void run_squared_sum(const Operands& with, const UpdateStep& step);
void run_sgd(const Operands& with, const UpdateStep& step);
void run_adamw(const Operands& with, const UpdateStep& step);

}  // namespace stagewright
