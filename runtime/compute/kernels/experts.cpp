#include "runtime/compute/kernels/experts.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void choose_experts(const ChooseExperts<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void place_rows(const PlaceRows& kernel, Index teams) {
  launch_rows(teams, kernel);
}

void choose_experts_backward(const ChooseExpertsBackward<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void balance_gradient(const BalanceGradient<float>& kernel, Index sequences) {
  launch_rows(sequences, kernel);
}

void dispatch_rows(const DispatchRows<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void combine_rows(const CombineRows<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void combine_rows_backward(const CombineRowsBackward<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

}  // namespace stagewright::kernels
