#pragma once

#include "runtime/compute/operands.h"
#include "runtime/compute/operation_kernels.h"

namespace stagewright {

/// Runs an operation of a loss as kernels of a device, on fp32 operands.  REQUIRES: its kind is one
/// of kLossRowMax, kLossRowSum, kLossFinish, kLossGradient.
void run_loss(const Operands& with, const UpdateStep& step, OperationKernels& on);

}  // namespace stagewright
