#pragma once

#include <cstdint>

#include "core/model/op.h"
#include "runtime/compute/operation_kernels.h"

namespace stagewright {

/// Values [rows, width] of an activation, or gated ones [rows, 2 width] of SwiGLU on its way in.
struct ActivationShape {
  OpVariant variant = OpVariant::kNone;
  std::int64_t rows = 0;
  std::int64_t width = 0;

  /// Columns on the way in.
  [[nodiscard]] std::int64_t width_in() const {
    return variant == OpVariant::kSwiGlu ? 2 * width : width;
  }
};

/// y = activation(x).
void activate(const ActivationShape& shape, const float* x, float* y, OperationKernels& on);

/// dx = dy * activation'(x).
void differentiate(
    const ActivationShape& shape, const float* dy, const float* x, float* dx, OperationKernels& on);

}  // namespace stagewright
