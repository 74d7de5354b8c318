#include "sim/cost/product_sizes.h"

#include <utility>

namespace stagewright {

bool is_convolution(OpKind kind) {
  return kind == OpKind::kConvolution || kind == OpKind::kConvolutionInputGradient ||
         kind == OpKind::kConvolutionWeightGradient;
}

ProductSizes product_sizes(const Operation& op) {
  ProductSizes sizes{.rows = static_cast<double>(op.shape.rows),
                     .inner = static_cast<double>(op.shape.inner),
                     .cols = static_cast<double>(op.shape.cols)};
  if (op.kind == OpKind::kConvolutionInputGradient) {
    const OpWindow& window = op.shape.window;
    const double work = sizes.rows * sizes.inner * sizes.cols;
    sizes.rows = static_cast<double>(op.shape.batch) * window.height * window.width;
    sizes.cols = window.channels;
    sizes.inner = work / (sizes.rows * sizes.cols);
  } else if (op.kind == OpKind::kConvolutionWeightGradient) {
    std::swap(sizes.rows, sizes.inner);
  } else if (op.transpose_a) {
    std::swap(sizes.rows, sizes.cols);
  }
  return sizes;
}

}  // namespace stagewright
