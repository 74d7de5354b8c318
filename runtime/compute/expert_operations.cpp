#include "runtime/compute/expert_operations.h"

#include <algorithm>

#include "core/base/check.h"
#include "runtime/compute/activation_operations.h"
#include "runtime/compute/gemm.h"
#include "runtime/compute/kernels/experts.h"

namespace stagewright {

namespace {

constexpr std::int64_t kMostBalancedExperts = 512;  // what a team's scratch has room for

[[nodiscard]] const std::int32_t* counts_on_host(const Operands& with,
                                                 std::size_t operand,
                                                 OperationKernels& on) {
  return on.on_host(with.tokens(operand), with.shape().batch * with.shape().heads);
}

void run_route_forward(const Operands& with, OperationKernels& on) {
  const OpShape& shape = with.shape();
  on.choose_experts({.scores = with.in(0),
                     .gates = with.out(0),
                     .choices = with.out<std::int32_t>(1),
                     .experts = shape.batch * shape.heads,
                     .chosen = shape.inner},
                    shape.rows);
  on.place_rows({.choices = with.out<std::int32_t>(1),
                 .places = with.out<std::int32_t>(2),
                 .counts = with.out<std::int32_t>(3),
                 .choice_count = shape.rows * shape.inner,
                 .parts = shape.batch,
                 .experts = shape.heads,
                 .largest = shape.sequence},
                1);
}

void run_route_backward(const Operands& with, OperationKernels& on) {
  const OpShape& shape = with.shape();
  on.choose_experts_backward({.dgates = with.in(0),
                              .gates = with.in(1),
                              .choices = with.tokens(2),
                              .dscores = with.out(0),
                              .experts = shape.cols,
                              .chosen = shape.inner},
                             shape.rows);
  if (with.in(3) != nullptr) {
    SW_CHECK(shape.cols <= kMostBalancedExperts, "at most 512 experts");
    on.balance_gradient({.scores = with.in(3),
                         .choices = with.tokens(2),
                         .dscores = with.out(0),
                         .sequence = shape.sequence,
                         .experts = shape.cols,
                         .chosen = shape.inner,
                         .scale = static_cast<float>(with.op().scalar)},
                        shape.rows / shape.sequence);
  }
}

void run_dispatch(const Operands& with, OperationKernels& on) {
  on.dispatch_rows({.x = with.in(0),
                    .places = with.tokens(1),
                    .y = with.out(0),
                    .width = with.shape().cols,
                    .chosen = with.shape().inner},
                   with.shape().rows);
}

void run_combine(const Operands& with, OperationKernels& on) {
  on.combine_rows({.y = with.in(0),
                   .places = with.tokens(1),
                   .gates = with.in(2),
                   .x = with.out(0),
                   .width = with.shape().cols,
                   .chosen = with.shape().inner},
                  with.shape().rows);
}

void run_combine_backward(const Operands& with, OperationKernels& on) {
  on.combine_rows_backward({.dx = with.in(0),
                            .y = with.in(1),
                            .places = with.tokens(2),
                            .gates = with.in(3),
                            .dy = with.out(0),
                            .dgates = with.out(1),
                            .width = with.shape().cols,
                            .chosen = with.shape().inner},
                           with.shape().rows);
}

/// C rows = A rows op(B of their expert).
void multiply_rows(const Operands& with, OperationKernels& on) {
  const OpShape& shape = with.shape();
  const bool transposed = with.op().transpose_b;
  for_each_counted(
      shape,
      counts_on_host(with, 2, on),
      [&](std::int64_t first, std::int64_t rows, std::int64_t expert) {
        on.gemm({.m = rows,
                 .n = shape.cols,
                 .k = shape.inner,
                 .a = {with.in(0) + first * shape.inner, shape.inner},
                 .b = {with.in(1) + expert * shape.cols * shape.inner,
                       transposed ? shape.inner : shape.cols,
                       transposed ? kernels::Operand::kTransposed : kernels::Operand::kPlain},
                 .c = with.out(0) + first * shape.cols,
                 .c_stride = shape.cols});
      });
}

/// C of an expert += (its rows of A)^T (its rows of B).
void add_products(const Operands& with, OperationKernels& on) {
  const OpShape& shape = with.shape();
  for_each_counted(
      shape,
      counts_on_host(with, 2, on),
      [&](std::int64_t first, std::int64_t rows, std::int64_t expert) {
        on.gemm({.m = shape.rows,
                 .n = shape.cols,
                 .k = rows,
                 .a = {with.in(0) + first * shape.rows, shape.rows, kernels::Operand::kTransposed},
                 .b = {with.in(1) + first * shape.cols, shape.cols},
                 .c = with.out(0) + expert * shape.rows * shape.cols,
                 .c_stride = shape.cols,
                 .accumulate = true});
      });
}

[[nodiscard]] ActivationShape activation_shape(const Operands& with, std::int64_t rows) {
  return {.variant = with.op().variant, .rows = rows, .width = with.shape().cols};
}

void activate_counted(const Operands& with, OperationKernels& on) {
  for_each_counted(
      with.shape(),
      counts_on_host(with, 1, on),
      [&](std::int64_t first, std::int64_t rows, std::int64_t /*expert*/) {
        const ActivationShape shape = activation_shape(with, rows);
        activate(
            shape, with.in(0) + first * shape.width_in(), with.out(0) + first * shape.width, on);
      });
}

void differentiate_counted(const Operands& with, OperationKernels& on) {
  for_each_counted(with.shape(),
                   counts_on_host(with, 2, on),
                   [&](std::int64_t first, std::int64_t rows, std::int64_t /*expert*/) {
                     const ActivationShape shape = activation_shape(with, rows);
                     differentiate(shape,
                                   with.in(0) + first * shape.width,
                                   with.in(1) + first * shape.width_in(),
                                   with.out(0) + first * shape.width_in(),
                                   on);
                   });
}

}  // namespace

bool is_of_experts(const Operation& op) {
  switch (op.kind) {
    case OpKind::kRouteForward:
    case OpKind::kRouteBackward:
    case OpKind::kDispatch:
    case OpKind::kCombine:
    case OpKind::kCombineBackward:
    case OpKind::kGroupedGemm:
      return true;
    case OpKind::kActivationForward:
    case OpKind::kActivationBackward:
      return writes_counted_rows(op);
    default:
      return false;
  }
}

bool reads_counts(const Operation& op) {
  const bool activates =
      op.kind == OpKind::kActivationForward || op.kind == OpKind::kActivationBackward;
  return op.kind == OpKind::kGroupedGemm || (activates && writes_counted_rows(op));
}

void run_experts(const Operands& with, OperationKernels& on) {
  switch (with.op().kind) {
    case OpKind::kRouteForward:
      return run_route_forward(with, on);
    case OpKind::kRouteBackward:
      return run_route_backward(with, on);
    case OpKind::kDispatch:
      return run_dispatch(with, on);
    case OpKind::kCombine:
      return run_combine(with, on);
    case OpKind::kCombineBackward:
      return run_combine_backward(with, on);
    case OpKind::kGroupedGemm:
      return with.op().transpose_a ? add_products(with, on) : multiply_rows(with, on);
    case OpKind::kActivationForward:
      return activate_counted(with, on);
    case OpKind::kActivationBackward:
      return differentiate_counted(with, on);
    default:
      break;
  }
  SW_CHECK(false, "an operation of experts");
}

}  // namespace stagewright
