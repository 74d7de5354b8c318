#pragma once

#include "core/base/result.h"
#include "runtime/compute/convolution.h"
#include "runtime/compute/operands.h"

namespace stagewright {

/// Whether it works on images: kImage to kPoolGradient.
[[nodiscard]] bool is_of_images(const Operation& op);

/// Runs such an operation on the CPU.
void run_images(const Operands& with, kernels::Convolutions& on);

}  // namespace stagewright
