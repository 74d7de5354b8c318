#include "runtime/compute/spatial_operations.h"

#include "core/base/check.h"
#include "runtime/compute/kernels/pool.h"

namespace stagewright {

namespace {

[[nodiscard]] kernels::ImageWindow window_of(const Operands& with) {
  const OpWindow& window = with.shape().window;
  return {.height = window.height,
          .width = window.width,
          .channels = window.channels,
          .kernel = window.kernel,
          .stride = window.stride,
          .padding = window.padding,
          .out_height = window.out_height(),
          .out_width = window.out_width()};
}

[[nodiscard]] kernels::ConvolutionShape shape_of(const Operands& with) {
  return {.window = window_of(with), .images = with.shape().batch, .outputs = with.shape().cols};
}

void run_pool(const Operands& with) {
  if (with.op().variant == OpVariant::kAverage) {
    kernels::average_pool({.x = with.in(0), .y = with.out(0), .window = window_of(with)},
                          with.shape().batch);
    return;
  }
  kernels::maximum_pool({.x = with.in(0), .y = with.out(0), .window = window_of(with)},
                        with.shape().batch);
}

void run_pool_gradient(const Operands& with) {
  if (with.op().variant == OpVariant::kAverage) {
    kernels::average_pool_gradient({.dy = with.in(0), .dx = with.out(0), .window = window_of(with)},
                                   with.shape().batch);
    return;
  }
  kernels::maximum_pool_gradient(
      {.dy = with.in(0), .x = with.in(1), .dx = with.out(0), .window = window_of(with)},
      with.shape().batch);
}

}  // namespace

bool is_of_images(const Operation& op) {
  switch (op.kind) {
    case OpKind::kImage:
    case OpKind::kConvolution:
    case OpKind::kConvolutionInputGradient:
    case OpKind::kConvolutionWeightGradient:
    case OpKind::kPool:
    case OpKind::kPoolGradient:
      return true;
    default:
      return false;
  }
}

void run_images(const Operands& with, kernels::Convolutions& on) {
  switch (with.op().kind) {
    case OpKind::kImage:
      return kernels::scale_pixels({.pixels = with.tokens(0), .y = with.out(0)}, with.elements());
    case OpKind::kConvolution:
      return on.forward({.shape = shape_of(with),
                         .x = with.in(0),
                         .w = with.in(1),
                         .bias = with.in(2),
                         .y = with.out(0)});
    case OpKind::kConvolutionInputGradient:
      return on.input_gradient(
          {.shape = shape_of(with), .dy = with.in(0), .w = with.in(1), .dx = with.out(0)});
    case OpKind::kConvolutionWeightGradient:
      return on.weight_gradient({.shape = shape_of(with),
                                 .dy = with.in(0),
                                 .x = with.in(1),
                                 .dw = with.out(0),
                                 .dbias = with.out(1)});
    case OpKind::kPool:
      return run_pool(with);
    case OpKind::kPoolGradient:
      return run_pool_gradient(with);
    default:
      break;
  }
  SW_CHECK(false, "an operation on images");
}

}  // namespace stagewright
