#pragma once

#include "runtime/compute/operands.h"
#include "runtime/compute/operation_kernels.h"

namespace stagewright {

/// Runs an operation of the optimizer as kernels of a device, on fp32 operands.  Updates whose
/// totals are no numbers change nothing.  REQUIRES: its class is kOptimizer.
void run_optimizer(const Operands& with, const UpdateStep& step, OperationKernels& on);

/// Whether an operation changes weights by their gradient.
[[nodiscard]] bool is_update(const Operation& operation);

}  // namespace stagewright
