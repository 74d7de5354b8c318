#include "runtime/compute/kernels/rms_norm.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void rms_norm_forward(const RmsNormForward<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void rms_norm_input_gradient(const RmsNormInputGradient<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void rms_norm_parameter_gradient(const RmsNormParameterGradient<float>& kernel, Index rows) {
  launch_columns(rows, kernel.width, kernel);
}

}  // namespace stagewright::kernels
