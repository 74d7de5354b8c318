#include "runtime/compute/kernels/activations.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void gelu_forward(const GeluForward<float>& kernel, Index count) {
  launch_elements(count, kernel);
}

void gelu_backward(const GeluBackward<float>& kernel, Index count) {
  launch_elements(count, kernel);
}

void relu_forward(const ReluForward<float>& kernel, Index count) {
  launch_elements(count, kernel);
}

void relu_backward(const ReluBackward<float>& kernel, Index count) {
  launch_elements(count, kernel);
}

void swiglu_forward(const SwigluForward<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void swiglu_backward(const SwigluBackward<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

}  // namespace stagewright::kernels
