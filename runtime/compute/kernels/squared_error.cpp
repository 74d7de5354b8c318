#include "runtime/compute/kernels/squared_error.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void row_squared_error(const RowSquaredError<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

double squared_error_loss(const SquaredErrorLoss& arguments, Index rows) {
  double sum = 0.0;
  for (Index r = 0; r < rows; ++r) {
    if (arguments.targets[r] >= 0) {
      sum += static_cast<double>(arguments.row_sum[r]);
    }
  }
  return sum;
}

void squared_error_backward(const SquaredErrorBackward<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

}  // namespace stagewright::kernels
