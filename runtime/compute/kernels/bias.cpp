#include "runtime/compute/kernels/bias.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void add_bias(const AddBias<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void add_bias_residual(const AddBiasResidual<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void broadcast_bias(const BroadcastBias<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void column_sum(const ColumnSum<float>& kernel, Index rows) {
  launch_columns(rows, kernel.width, kernel);
}

}  // namespace stagewright::kernels
