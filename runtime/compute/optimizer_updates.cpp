#include "runtime/compute/optimizer_updates.h"

#include <cstdint>
#include <vector>

#include "core/base/check.h"
#include "core/base/dtype.h"
#include "runtime/compute/master_copy.h"

namespace stagewright {

namespace {

/// Of the gradients of an update, whose totals are the squared global norm and the loss.
[[nodiscard]] UpdateScale scale_of(const Operands& with, const UpdateStep& step) {
  return {.unscale = 1.0 / step.loss_scale,
          .totals = with.in(1),
          .clip_norm = step.optimizer.clip_norm};
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

void follow_master(const Operands& with, const float* updated, OperationKernels& on) {
  if (updated != with.out(0)) {
    on.copy(with.out(0), updated, with.elements() * size_of(DType::kFloat32));
  }
}

void run_sgd(const Operands& with, const UpdateStep& step, OperationKernels& on) {
  if (!on.begin_update(scale_of(with, step))) {
    return;
  }
  const OptimizerSpec& optimizer = step.optimizer;
  float* parameters = updated_parameters(with, optimizer);
  for (const AlikeRange& range : alike_ranges(with, optimizer)) {
    on.sgd({.parameters = parameters + range.begin,
            .gradients = with.in(0) + range.begin,
            .velocity = optimizer.momentum != 0 ? with.out(1) + range.begin : nullptr,
            .learning_rate = range.learning_rate,
            .momentum = optimizer.momentum,
            .weight_decay = range.weight_decay},
           range.end - range.begin);
  }
  follow_master(with, parameters, on);
}

void run_adamw(const Operands& with, const UpdateStep& step, OperationKernels& on) {
  if (!on.begin_update(scale_of(with, step))) {
    return;
  }
  const OptimizerSpec& optimizer = step.optimizer;
  float* parameters = updated_parameters(with, optimizer);
  for (const AlikeRange& range : alike_ranges(with, optimizer)) {
    on.adamw({.parameters = parameters + range.begin,
              .gradients = with.in(0) + range.begin,
              .first_moment = with.out(1) + range.begin,
              .second_moment = with.out(2) + range.begin,
              .step = step.number - step.skipped,
              .learning_rate = range.learning_rate,
              .beta1 = optimizer.beta1,
              .beta2 = optimizer.beta2,
              .epsilon = optimizer.epsilon,
              .weight_decay = range.weight_decay,
              .coupled = optimizer.kind == OptimizerKind::kAdam},
             range.end - range.begin);
  }
  follow_master(with, parameters, on);
}

void run_squared_sum(const Operands& with, const UpdateStep& step, OperationKernels& on) {
  const double unscale = 1.0 / (step.loss_scale * step.loss_scale);
  on.add_squares(
      with.in(0), with.elements(), with.op().scalar * unscale, with.out(0) + with.op().index);
}

}  // namespace

bool is_update(const Operation& operation) {
  return operation.kind == OpKind::kSgdStep || operation.kind == OpKind::kAdamWStep;
}

void run_optimizer(const Operands& with, const UpdateStep& step, OperationKernels& on) {
  if (with.op().kind == OpKind::kSgdStep) {
    run_sgd(with, step, on);
  } else if (with.op().kind == OpKind::kAdamWStep) {
    run_adamw(with, step, on);
  } else {
    SW_CHECK(with.op().kind == OpKind::kSquaredSum, "an operation of the optimizer");
    run_squared_sum(with, step, on);
  }
}

}  // namespace stagewright
