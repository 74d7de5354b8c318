#include "runtime/compute/optimizer_updates.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/check.h"
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

/// Elements of an update that have their settings in common.
struct AlikeRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  double learning_rate = 0;
  double weight_decay = 0;
};

/// All of an update, cut where settings change.
[[nodiscard]] std::vector<AlikeRange> alike_ranges(const Operands& with,
                                                   const OptimizerSpec& optimizer) {
  const double decay = with.op().decay ? optimizer.weight_decay : 0.0;
  std::vector<AlikeRange> alike;
  std::int64_t at = 0;
  const auto usual_up_to = [&](std::int64_t end) {
    if (at < end) {
      alike.push_back({at, end, optimizer.learning_rate, decay});
    }
  };
  for (const UpdateRange& range : with.ranges()) {
    usual_up_to(range.begin);
    alike.push_back({range.begin,
                     range.end,
                     optimizer.learning_rate * range.rate,
                     range.weight_decay.value_or(decay)});
    at = range.end;
  }
  usual_up_to(with.elements());
  return alike;
}

void follow_master(const Operands& with, const float* updated) {
  if (updated != with.out(0)) {
    std::copy_n(updated, with.elements(), with.out(0));
  }
}

void run_sgd(const Operands& with, const UpdateStep& step) {
  const std::optional<double> factor = gradient_factor(with, step);
  if (!factor) {
    return;
  }
  const OptimizerSpec& optimizer = step.optimizer;
  float* parameters = updated_parameters(with, optimizer);
  for (const AlikeRange& range : alike_ranges(with, optimizer)) {
    kernels::sgd({.parameters = parameters + range.begin,
                  .gradients = with.in(0) + range.begin,
                  .velocity = optimizer.momentum != 0 ? with.out(1) + range.begin : nullptr,
                  .learning_rate = range.learning_rate,
                  .momentum = optimizer.momentum,
                  .weight_decay = range.weight_decay,
                  .gradient_scale = *factor},
                 range.end - range.begin);
  }
  follow_master(with, parameters);
}

void run_adamw(const Operands& with, const UpdateStep& step) {
  const std::optional<double> factor = gradient_factor(with, step);
  if (!factor) {
    return;
  }
  const OptimizerSpec& optimizer = step.optimizer;
  float* parameters = updated_parameters(with, optimizer);
  for (const AlikeRange& range : alike_ranges(with, optimizer)) {
    kernels::adamw({.parameters = parameters + range.begin,
                    .gradients = with.in(0) + range.begin,
                    .first_moment = with.out(1) + range.begin,
                    .second_moment = with.out(2) + range.begin,
                    .step = step.number - step.skipped,
                    .learning_rate = range.learning_rate,
                    .beta1 = optimizer.beta1,
                    .beta2 = optimizer.beta2,
                    .epsilon = optimizer.epsilon,
                    .weight_decay = range.weight_decay,
                    .coupled = optimizer.kind == OptimizerKind::kAdam,
                    .gradient_scale = *factor},
                   range.end - range.begin);
  }
  follow_master(with, parameters);
}

void run_squared_sum(const Operands& with, const UpdateStep& step) {
  const double sum = kernels::sum_of_squares(with.in(0), with.elements());
  const double unscale = 1.0 / (step.loss_scale * step.loss_scale);
  with.out(0)[with.op().index] += static_cast<float>(with.op().scalar * unscale * sum);
}

}  // namespace

bool is_update(const Operation& operation) {
  return operation.kind == OpKind::kSgdStep || operation.kind == OpKind::kAdamWStep;
}

void run_optimizer(const Operands& with, const UpdateStep& step) {
  if (with.op().kind == OpKind::kSgdStep) {
    run_sgd(with, step);
  } else if (with.op().kind == OpKind::kAdamWStep) {
    run_adamw(with, step);
  } else {
    SW_CHECK(with.op().kind == OpKind::kSquaredSum, "an operation of the optimizer");
    run_squared_sum(with, step);
  }
}

}  // namespace stagewright
