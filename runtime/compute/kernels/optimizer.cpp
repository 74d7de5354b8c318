#include "runtime/compute/kernels/optimizer.h"

#include <limits>

#include "core/base/check.h"
#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {
namespace {

// 1 / (1 - beta^step): undoes the bias of a moment that started at 0.
float bias_correction(double beta, Index step) {
  return static_cast<float>(1.0 / (1.0 - std::pow(beta, static_cast<double>(step))));
}

}  // namespace

AdamWUpdate adamw_update(const AdamW& arguments) {
  SW_CHECK(arguments.step >= 1, "steps count from 1");
  const auto weight_decay = static_cast<float>(arguments.weight_decay);
  // 1 - beta is taken in double: from a float beta of 0.999 it would be 5e-5 off.
  return {.parameters = arguments.parameters,
          .gradients = arguments.gradients,
          .first_moment = arguments.first_moment,
          .second_moment = arguments.second_moment,
          .learning_rate = static_cast<float>(arguments.learning_rate),
          .beta1 = static_cast<float>(arguments.beta1),
          .one_minus_beta1 = static_cast<float>(1.0 - arguments.beta1),
          .correction1 = bias_correction(arguments.beta1, arguments.step),
          .beta2 = static_cast<float>(arguments.beta2),
          .one_minus_beta2 = static_cast<float>(1.0 - arguments.beta2),
          .correction2 = bias_correction(arguments.beta2, arguments.step),
          .epsilon = static_cast<float>(arguments.epsilon),
          .weight_decay = arguments.coupled ? 0.0F : weight_decay,
          .coupled_decay = arguments.coupled ? weight_decay : 0.0F,
          .gradient_scale = static_cast<float>(arguments.gradient_scale)};
}

void adamw(const AdamW& arguments, Index count) {
  launch_elements(count, adamw_update(arguments));
}

PlainSgdUpdate plain_sgd_update(const Sgd& arguments) {
  SW_CHECK(arguments.momentum == 0.0, "momentum needs the other update");
  return {.parameters = arguments.parameters,
          .gradients = arguments.gradients,
          .learning_rate = static_cast<float>(arguments.learning_rate),
          .weight_decay = static_cast<float>(arguments.weight_decay),
          .gradient_scale = static_cast<float>(arguments.gradient_scale)};
}

SgdUpdate sgd_update(const Sgd& arguments) {
  SW_CHECK(arguments.velocity != nullptr, "momentum needs a velocity");
  return {.parameters = arguments.parameters,
          .gradients = arguments.gradients,
          .velocity = arguments.velocity,
          .learning_rate = static_cast<float>(arguments.learning_rate),
          .momentum = static_cast<float>(arguments.momentum),
          .weight_decay = static_cast<float>(arguments.weight_decay),
          .gradient_scale = static_cast<float>(arguments.gradient_scale)};
}

void sgd(const Sgd& arguments, Index count) {
  if (arguments.momentum == 0.0) {
    launch_elements(count, plain_sgd_update(arguments));
  } else {
    launch_elements(count, sgd_update(arguments));
  }
}

double sum_of_squares(const float* x, Index count) {
  double result = 0.0;
  run_on(best_instruction_set(), [x, count, out = &result] {
    const float* const values = x;
    const Index n = count;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < n; ++i) {
      const auto value = static_cast<double>(values[i]);
      sum += value * value;
    }
    *out = sum;
  });
  return result;
}

double clip_scale(double norm, double max_norm) {
  if (!std::isfinite(norm)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return norm <= max_norm ? 1.0 : max_norm / norm;
}

}  // namespace stagewright::kernels
