#include "runtime/compute/optimizer_updates.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/compute/kernels/optimizer.h"
#include "runtime/compute/master_copy.h"

namespace stagewright {

namespace {

/// Factor on the gradients of an update, whose totals are the squared global norm and the loss;
/// nothing where these are no numbers, so that there must be no update.
[[nodiscard]] std::optional<double> gradient_factor(const Operands& with, const UpdateStep& step) {
  const double unscale = 1.0 / step.loss_scale;
  const float* totals = with.in(1);
  if (totals == nullptr) {
    return unscale;
  }
  if (!std::isfinite(totals[0]) || !std::isfinite(totals[1])) {
    return std::nullopt;
  }
  const std::optional<double>& clip = step.optimizer.clip_norm;
  return clip ? unscale * kernels::clip_scale(std::sqrt(static_cast<double>(totals[0])), *clip)
              : unscale;
}

/// What an update changes: the fp32 master copy, if there is one.
[[nodiscard]] float* updated_parameters(const Operands& with, const OptimizerSpec& optimizer) {
  return with.out(master_output(with.op(), optimizer).value_or(0));
}

void follow_master(const Operands& with, const float* updated) {
  if (updated != with.out(0)) {
    std::copy_n(updated, with.elements(), with.out(0));
  }
}

}  // namespace

void run_sgd(const Operands& with, const UpdateStep& step) {
  const std::optional<double> factor = gradient_factor(with, step);
  if (!factor) {
    return;
  }
  const OptimizerSpec& optimizer = step.optimizer;
  float* parameters = updated_parameters(with, optimizer);
  kernels::sgd({.parameters = parameters,
                .gradients = with.in(0),
                .velocity = optimizer.momentum != 0 ? with.out(1) : nullptr,
                .learning_rate = optimizer.learning_rate,
                .momentum = optimizer.momentum,
                .weight_decay = with.op().decay ? optimizer.weight_decay : 0.0,
                .gradient_scale = *factor},
               with.elements());
  follow_master(with, parameters);
}

void run_adamw(const Operands& with, const UpdateStep& step) {
  const std::optional<double> factor = gradient_factor(with, step);
  if (!factor) {
    return;
  }
  const OptimizerSpec& optimizer = step.optimizer;
  float* parameters = updated_parameters(with, optimizer);
  kernels::adamw({.parameters = parameters,
                  .gradients = with.in(0),
                  .first_moment = with.out(1),
                  .second_moment = with.out(2),
                  .step = step.number - step.skipped,
                  .learning_rate = optimizer.learning_rate,
                  .beta1 = optimizer.beta1,
                  .beta2 = optimizer.beta2,
                  .epsilon = optimizer.epsilon,
                  .weight_decay = with.op().decay ? optimizer.weight_decay : 0.0,
                  .gradient_scale = *factor},
                 with.elements());
  follow_master(with, parameters);
}

void run_squared_sum(const Operands& with, const UpdateStep& step) {
  const double sum = kernels::sum_of_squares(with.in(0), with.elements());
  const double unscale = 1.0 / (step.loss_scale * step.loss_scale);
  with.out(0)[with.op().index] += static_cast<float>(with.op().scalar * unscale * sum);
}

}  // namespace stagewright
