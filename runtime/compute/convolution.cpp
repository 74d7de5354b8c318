#include "runtime/compute/convolution.h"

#include <algorithm>

#include "core/base/check.h"
#include "runtime/compute/convolution_primitives.h"
#include "runtime/compute/kernels/bias.h"
#include "runtime/compute/kernels/element_wise.h"
#include "runtime/compute/kernels/patches.h"

namespace stagewright::kernels {
namespace {

/// Floats of a block of rows of patches: it stays in the second-level cache.
constexpr Index kBlockFloats = 65'536;
/// Fewer rows leave a product too flat.
constexpr Index kFewestRows = 16;

/// Calls `body(first row, rows)` for blocks of all rows.
template <class Body>
void for_each_row_block(const ConvolutionShape& shape, const Body& body) {
  const Index rows = std::max(kFewestRows, kBlockFloats / shape.window.patch());
  for (Index first = 0; first < shape.rows(); first += rows) {
    body(first, std::min(rows, shape.rows() - first));
  }
}

/// A window is a pixel and each pixel has one: images are their own patches.
bool is_product(const ImageWindow& window) {
  return window.kernel == 1 && window.stride == 1 && window.padding == 0;
}

}  // namespace

std::string_view name_of(ConvolutionForm form) {
  switch (form) {
    case ConvolutionForm::kOneDnn:
      return "oneDNN";
    case ConvolutionForm::kPatches:
      return "patches";
  }
  SW_CHECK(false, "a known form of convolutions");
}

Convolutions::Convolutions(ConvolutionForm form, GemmLibrary library)
    : library_(library),
      primitives_(form == ConvolutionForm::kOneDnn ? std::make_unique<ConvolutionPrimitives>()
                                                   : nullptr) {}

Convolutions::~Convolutions() = default;

float* Convolutions::block(Index rows, Index columns) {
  block_.resize(std::max(block_.size(), static_cast<std::size_t>(rows * columns)));
  return block_.data();
}

void Convolutions::forward(const ConvolutionForward& arguments) {
  if (primitives_) {
    return primitives_->forward(arguments);
  }
  const ConvolutionShape& shape = arguments.shape;
  const ImageWindow& window = shape.window;
  for_each_row_block(shape, [&](Index first, Index rows) {
    const float* patches = arguments.x + first * window.patch();
    if (!is_product(window)) {
      float* laid = block(rows, window.patch());
      lay_out_patches({.x = arguments.x, .patches = laid, .window = window, .first = first}, rows);
      patches = laid;
    }
    gemm({.m = rows,
          .n = shape.outputs,
          .k = window.patch(),
          .a = {patches, window.patch()},
          .b = {arguments.w, window.patch(), Operand::kTransposed},
          .c = arguments.y + first * shape.outputs,
          .c_stride = shape.outputs,
          .bias = arguments.bias},
         library_);
  });
}

void Convolutions::input_gradient(const ConvolutionInputGradient& arguments) {
  if (primitives_) {
    return primitives_->input_gradient(arguments);
  }
  const ConvolutionShape& shape = arguments.shape;
  const ImageWindow& window = shape.window;
  const auto multiply = [&](Index first, Index rows, float* out) {
    gemm({.m = rows,
          .n = window.patch(),
          .k = shape.outputs,
          .a = {arguments.dy + first * shape.outputs, shape.outputs},
          .b = {arguments.w, window.patch()},
          .c = out,
          .c_stride = window.patch()},
         library_);
  };
  if (is_product(window)) {
    return multiply(0, shape.rows(), arguments.dx);
  }
  fill({.y = arguments.dx, .value = 0.0F}, shape.images * window.in_elements());
  for_each_row_block(shape, [&](Index first, Index rows) {
    float* patches = block(rows, window.patch());
    multiply(first, rows, patches);
    const Index first_image = first / window.out_pixels();
    const Index last_image = (first + rows - 1) / window.out_pixels();
    add_patches({.patches = patches,
                 .x = arguments.dx,
                 .window = window,
                 .first = first,
                 .end = first + rows,
                 .first_image = first_image},
                last_image - first_image + 1);
  });
}

void Convolutions::weight_gradient(const ConvolutionWeightGradient& arguments) {
  const ConvolutionShape& shape = arguments.shape;
  const ImageWindow& window = shape.window;
  if (arguments.dbias != nullptr) {
    column_sum({.x = arguments.dy, .sum = arguments.dbias, .width = shape.outputs}, shape.rows());
  }
  if (primitives_) {
    return primitives_->weight_gradient(arguments);
  }
  for_each_row_block(shape, [&](Index first, Index rows) {
    const float* patches = arguments.x + first * window.patch();
    if (!is_product(window)) {
      float* laid = block(rows, window.patch());
      lay_out_patches({.x = arguments.x, .patches = laid, .window = window, .first = first}, rows);
      patches = laid;
    }
    gemm({.m = shape.outputs,
          .n = window.patch(),
          .k = rows,
          .a = {arguments.dy + first * shape.outputs, shape.outputs, Operand::kTransposed},
          .b = {patches, window.patch()},
          .c = arguments.dw,
          .c_stride = window.patch(),
          .accumulate = true},
         library_);
  });
}

}  // namespace stagewright::kernels
