#pragma once

#include "runtime/compute/operands.h"

namespace stagewright {

/// Runs an operation of a loss on the CPU, on fp32 operands.  REQUIRES: its kind is one of
/// kLossRowMax, kLossRowSum, kLossFinish, kLossGradient.
void run_loss(const Operands& with, const UpdateStep& step);

}  // namespace stagewright
