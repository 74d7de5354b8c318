#include "planner/axes/data.h"

namespace stagewright {

double loss_gradient_scale(const Plan& plan) {
  return loss_gradient_scale(plan, plan.micro_batches);
}

double loss_gradient_scale(const Plan& plan, std::int32_t micro_batches) {
  const double sequences = static_cast<double>(plan.global_batch()) / plan.micro_batches;
  return 1.0 / (sequences * micro_batches * plan.sequence);
}

double loss_scale(const Plan& plan) {
  return loss_gradient_scale(plan) / plan.stages.back().tp;
}

}  // namespace stagewright
