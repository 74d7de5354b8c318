#pragma once

#include "core/schedule/operation.h"

namespace stagewright {

/// A product (rows, inner) x (inner, cols).
struct ProductSizes {
  double rows = 0;
  double inner = 0;
  double cols = 0;
};

/// The product that an operation of the class kMatrix is, as devices run it.  A weight gradient's
/// is the one with (inputs, outputs): the same product with the sides of its tiles exchanged.
/// Convolutions are implicit products (Chetlur et al. 2014, section 3.1): with N images, K channels
/// out of C, kernel R, H x W pixels in and P x Q out,
///   forward          (N P Q, R^2 C) x (R^2 C, K)
///   input gradient   (N H W, R^2 K / stride^2) x (.., C), since a stride leaves out taps
///   weight gradient  (R^2 C, N P Q) x (N P Q, K)
[[nodiscard]] ProductSizes product_sizes(const Operation& op);

[[nodiscard]] bool is_convolution(OpKind kind);

}  // namespace stagewright
