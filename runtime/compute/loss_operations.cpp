#include "runtime/compute/loss_operations.h"

#include "core/base/check.h"

namespace stagewright {

namespace {

void run_loss_row_max(const Operands& with, OperationKernels& on) {
  on.row_max({.logits = with.in(0),
              .row_max = with.out(0),
              .width = with.slice_size(with.shape().cols),
              .stride = with.shape().cols},
             with.shape().rows);
}

void run_loss_row_sum(const Operands& with, OperationKernels& on) {
  if (with.op().variant == OpVariant::kSquaredError) {
    return on.row_squared_error({.y = with.in(0),
                                 .targets = with.tokens(1),
                                 .row_sum = with.out(0),
                                 .width = with.slice_size(with.shape().cols),
                                 .stride = with.shape().cols,
                                 .vocab_begin = with.slice_begin()},
                                with.shape().rows);
  }
  on.row_sum_exp({.logits = with.in(0),
                  .row_max = with.in(2),
                  .targets = with.tokens(1),
                  .row_sum = with.out(0),
                  .target_logit = with.out(0) + with.shape().rows,
                  .width = with.slice_size(with.shape().cols),
                  .stride = with.shape().cols,
                  .vocab_begin = with.slice_begin()},
                 with.shape().rows);
}

void run_loss_gradient(const Operands& with, const UpdateStep& step, OperationKernels& on) {
  const auto scale = static_cast<float>(with.op().scalar * step.loss_scale);
  if (with.op().variant == OpVariant::kSquaredError) {
    return on.squared_error_backward({.y = with.in(0),
                                      .targets = with.tokens(1),
                                      .dy = with.out(0),
                                      .scale = scale,
                                      .width = with.slice_size(with.shape().cols),
                                      .stride = with.shape().cols,
                                      .vocab_begin = with.slice_begin()},
                                     with.shape().rows);
  }
  on.cross_entropy_backward({.logits = with.in(0),
                             .row_max = with.in(2),
                             .row_sum = with.in(3),
                             .targets = with.tokens(1),
                             .dlogits = with.out(0),
                             .scale = scale,
                             .width = with.slice_size(with.shape().cols),
                             .stride = with.shape().cols,
                             .vocab_begin = with.slice_begin()},
                            with.shape().rows);
}

void run_loss_finish(const Operands& with, OperationKernels& on) {
  const std::int64_t rows = with.shape().rows;
  if (with.op().variant == OpVariant::kSquaredError) {
    return on.add_loss(kernels::SquaredErrorLoss{.row_sum = with.in(0), .targets = with.tokens(1)},
                       rows,
                       with.op().scalar,
                       with.out(0));
  }
  const float* sums = with.in(1);
  on.add_loss(kernels::CrossEntropyLoss{.row_max = with.in(0),
                                        .row_sum = sums,
                                        .target_logit = sums + rows,
                                        .targets = with.tokens(2)},
              rows,
              with.op().scalar,
              with.out(0));
}

}  // namespace

void run_loss(const Operands& with, const UpdateStep& step, OperationKernels& on) {
  const OpKind kind = with.op().kind;
  if (kind == OpKind::kLossRowMax) {
    run_loss_row_max(with, on);
  } else if (kind == OpKind::kLossRowSum) {
    run_loss_row_sum(with, on);
  } else if (kind == OpKind::kLossFinish) {
    run_loss_finish(with, on);
  } else {
    SW_CHECK(kind == OpKind::kLossGradient, "an operation of a loss");
    run_loss_gradient(with, step, on);
  }
}

}  // namespace stagewright
