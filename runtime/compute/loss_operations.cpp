#include "runtime/compute/loss_operations.h"

#include "core/base/check.h"
#include "runtime/compute/kernels/cross_entropy.h"
#include "runtime/compute/kernels/squared_error.h"

namespace stagewright {

namespace {

void run_loss_row_max(const Operands& with) {
  kernels::row_max({.logits = with.in(0),
                    .row_max = with.out(0),
                    .width = with.slice_size(with.shape().cols),
                    .stride = with.shape().cols},
                   with.shape().rows);
}

void run_loss_row_sum(const Operands& with) {
  if (with.op().variant == OpVariant::kSquaredError) {
    return kernels::row_squared_error({.y = with.in(0),
                                       .targets = with.tokens(1),
                                       .row_sum = with.out(0),
                                       .width = with.slice_size(with.shape().cols),
                                       .stride = with.shape().cols,
                                       .vocab_begin = with.slice_begin()},
                                      with.shape().rows);
  }
  kernels::row_sum_exp({.logits = with.in(0),
                        .row_max = with.in(2),
                        .targets = with.tokens(1),
                        .row_sum = with.out(0),
                        .target_logit = with.out(0) + with.shape().rows,
                        .width = with.slice_size(with.shape().cols),
                        .stride = with.shape().cols,
                        .vocab_begin = with.slice_begin()},
                       with.shape().rows);
}

void run_loss_gradient(const Operands& with, const UpdateStep& step) {
  const auto scale = static_cast<float>(with.op().scalar * step.loss_scale);
  if (with.op().variant == OpVariant::kSquaredError) {
    return kernels::squared_error_backward({.y = with.in(0),
                                            .targets = with.tokens(1),
                                            .dy = with.out(0),
                                            .scale = scale,
                                            .width = with.slice_size(with.shape().cols),
                                            .stride = with.shape().cols,
                                            .vocab_begin = with.slice_begin()},
                                           with.shape().rows);
  }
  kernels::cross_entropy_backward({.logits = with.in(0),
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

void add_to_loss(const Operands& with, double sum) {
  *with.out(0) += static_cast<float>(sum * with.op().scalar);
}

void run_loss_finish(const Operands& with) {
  if (with.op().variant == OpVariant::kSquaredError) {
    return add_to_loss(with,
                       kernels::squared_error_loss(
                           {.row_sum = with.in(0), .targets = with.tokens(1)}, with.shape().rows));
  }
  const float* sums = with.in(1);
  const std::int64_t rows = with.shape().rows;
  const double loss = kernels::cross_entropy_loss({.row_max = with.in(0),
                                                   .row_sum = sums,
                                                   .target_logit = sums + rows,
                                                   .targets = with.tokens(2)},
                                                  rows);
  add_to_loss(with, loss);
}

}  // namespace

void run_loss(const Operands& with, const UpdateStep& step) {
  const OpKind kind = with.op().kind;
  if (kind == OpKind::kLossRowMax) {
    run_loss_row_max(with);
  } else if (kind == OpKind::kLossRowSum) {
    run_loss_row_sum(with);
  } else if (kind == OpKind::kLossFinish) {
    run_loss_finish(with);
  } else {
    SW_CHECK(kind == OpKind::kLossGradient, "an operation of a loss");
    run_loss_gradient(with, step);
  }
}

}  // namespace stagewright
