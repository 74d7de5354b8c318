#include "planner/axes/data.h"

namespace stagewright {

double loss_gradient_scale(const Plan& plan) {
  return 1.0 / (static_cast<double>(plan.global_batch()) * plan.sequence);
}

double loss_scale(const Plan& plan) {
  return loss_gradient_scale(plan) / plan.stages.back().tp;
}

}  // namespace stagewright
