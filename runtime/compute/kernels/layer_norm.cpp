#include "runtime/compute/kernels/layer_norm.h"

#include "runtime/compute/kernels/bias.h"
#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void layer_norm_forward(const LayerNormForward<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void layer_norm_input_gradient(const LayerNormInputGradient<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void layer_norm_parameter_gradient(const LayerNormParameterGradient& arguments, Index rows) {
  launch_columns(rows,
                 arguments.width,
                 LayerNormGammaGradient<float>{.x = arguments.x,
                                               .mean = arguments.mean,
                                               .rstd = arguments.rstd,
                                               .dy = arguments.dy,
                                               .dgamma = arguments.dgamma,
                                               .width = arguments.width});
  column_sum({.x = arguments.dy, .sum = arguments.dbeta, .width = arguments.width}, rows);
}

}  // namespace stagewright::kernels
