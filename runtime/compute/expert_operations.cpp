#include "runtime/compute/expert_operations.h"

#include <algorithm>

#include "core/base/check.h"
#include "runtime/compute/activation_operations.h"
#include "runtime/compute/gemm.h"
#include "runtime/compute/kernels/experts.h"

namespace stagewright {

namespace {

void run_route_forward(const Operands& with) {
  const OpShape& shape = with.shape();
  kernels::choose_experts({.scores = with.in(0),
                           .gates = with.out(0),
                           .choices = with.out<std::int32_t>(1),
                           .places = with.out<std::int32_t>(2),
                           .counts = with.out<std::int32_t>(3),
                           .chosen = shape.inner,
                           .parts = shape.batch,
                           .experts = shape.heads,
                           .largest = shape.sequence},
                          shape.rows);
}

void run_route_backward(const Operands& with) {
  const OpShape& shape = with.shape();
  kernels::choose_experts_backward({.dgates = with.in(0),
                                    .gates = with.in(1),
                                    .choices = with.tokens(2),
                                    .dscores = with.out(0),
                                    .experts = shape.cols,
                                    .chosen = shape.inner},
                                   shape.rows);
  if (with.in(3) != nullptr) {
    kernels::balance_gradient({.scores = with.in(3),
                               .choices = with.tokens(2),
                               .dscores = with.out(0),
                               .sequence = shape.sequence,
                               .experts = shape.cols,
                               .chosen = shape.inner,
                               .scale = static_cast<float>(with.op().scalar)},
                              shape.rows / shape.sequence);
  }
}

void run_dispatch(const Operands& with) {
  kernels::dispatch_rows({.x = with.in(0),
                          .places = with.tokens(1),
                          .y = with.out(0),
                          .width = with.shape().cols,
                          .chosen = with.shape().inner},
                         with.shape().rows);
}

void run_combine(const Operands& with) {
  kernels::combine_rows({.y = with.in(0),
                         .places = with.tokens(1),
                         .gates = with.in(2),
                         .x = with.out(0),
                         .width = with.shape().cols,
                         .chosen = with.shape().inner},
                        with.shape().rows);
}

void run_combine_backward(const Operands& with) {
  kernels::combine_rows_backward({.dx = with.in(0),
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
void multiply_rows(const Operands& with) {
  const OpShape& shape = with.shape();
  const bool transposed = with.op().transpose_b;
  for_each_counted(
      shape, with.tokens(2), [&](std::int64_t first, std::int64_t rows, std::int64_t expert) {
        kernels::gemm({.m = rows,
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
void add_products(const Operands& with) {
  const OpShape& shape = with.shape();
  for_each_counted(
      shape, with.tokens(2), [&](std::int64_t first, std::int64_t rows, std::int64_t expert) {
        kernels::gemm(
            {.m = shape.rows,
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
      with.tokens(1),
      [&](std::int64_t first, std::int64_t rows, std::int64_t /*expert*/) {
        const ActivationShape shape = activation_shape(with, rows);
        activate(
            shape, with.in(0) + first * shape.width_in(), with.out(0) + first * shape.width, on);
      });
}

void differentiate_counted(const Operands& with, OperationKernels& on) {
  for_each_counted(with.shape(),
                   with.tokens(2),
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

void run_experts(const Operands& with, OperationKernels& on) {
  switch (with.op().kind) {
    case OpKind::kRouteForward:
      return run_route_forward(with);
    case OpKind::kRouteBackward:
      return run_route_backward(with);
    case OpKind::kDispatch:
      return run_dispatch(with);
    case OpKind::kCombine:
      return run_combine(with);
    case OpKind::kCombineBackward:
      return run_combine_backward(with);
    case OpKind::kGroupedGemm:
      return with.op().transpose_a ? add_products(with) : multiply_rows(with);
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
