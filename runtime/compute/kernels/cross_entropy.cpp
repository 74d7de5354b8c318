#include "runtime/compute/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void row_max(const RowMax<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void row_sum_exp(const RowSumExp<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

double cross_entropy_loss(const CrossEntropyLoss& arguments, Index rows) {
  double sum = 0.0;
  for (Index r = 0; r < rows; ++r) {
    if (arguments.targets[r] >= 0) {
      sum += std::log(static_cast<double>(arguments.row_sum[r])) +
             static_cast<double>(arguments.row_max[r]) -
             static_cast<double>(arguments.target_logit[r]);
    }
  }
  return sum;
}

void cross_entropy_backward(const CrossEntropyBackward<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

Index count_targets(const std::int32_t* targets, Index rows) {
  return std::count_if(targets, targets + rows, [](std::int32_t target) { return target >= 0; });
}

}  // namespace stagewright::kernels
