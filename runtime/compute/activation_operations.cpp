#include "runtime/compute/activation_operations.h"

namespace stagewright {

void activate(const ActivationShape& shape, const float* x, float* y, OperationKernels& on) {
  if (shape.variant == OpVariant::kSwiGlu) {
    on.swiglu_forward({.x = x, .y = y, .width = shape.width}, shape.rows);
  } else if (shape.variant == OpVariant::kRelu) {
    on.relu_forward({.x = x, .y = y}, shape.rows * shape.width);
  } else {
    on.gelu_forward({.x = x, .y = y}, shape.rows * shape.width);
  }
}

void differentiate(const ActivationShape& shape,
                   const float* dy,
                   const float* x,
                   float* dx,
                   OperationKernels& on) {
  if (shape.variant == OpVariant::kSwiGlu) {
    on.swiglu_backward({.x = x, .dy = dy, .dx = dx, .width = shape.width}, shape.rows);
  } else if (shape.variant == OpVariant::kRelu) {
    on.relu_backward({.x = x, .dy = dy, .dx = dx}, shape.rows * shape.width);
  } else {
    on.gelu_backward({.x = x, .dy = dy, .dx = dx}, shape.rows * shape.width);
  }
}

}  // namespace stagewright
