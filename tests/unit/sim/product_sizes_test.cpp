#include "sim/cost/product_sizes.h"

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/cluster/device.h"
#include "sim/cost/analytical_compute.h"
#include "sim/cost/calibrated_cost.h"

namespace stagewright {
namespace {

Operation convolution(OpKind kind, const OpWindow& window, std::int64_t images, std::int64_t out) {
  Operation op;
  op.kind = kind;
  op.shape.batch = images;
  op.shape.rows = images * window.out_pixels();
  op.shape.cols = out;
  op.shape.inner = std::int64_t{window.kernel} * window.kernel * window.channels;
  op.shape.window = window;
  return op;
}

constexpr OpWindow kWindow{
    .height = 28, .width = 28, .channels = 256, .kernel = 3, .stride = 1, .padding = 1};

TEST(ProductSizesTest, AConvolutionIsTheProductOfItsWindows) {
  const ProductSizes forward = product_sizes(convolution(OpKind::kConvolution, kWindow, 8, 512));
  EXPECT_EQ(forward.rows, 8 * 28 * 28);
  EXPECT_EQ(forward.inner, 9 * 256);
  EXPECT_EQ(forward.cols, 512);
  const ProductSizes input =
      product_sizes(convolution(OpKind::kConvolutionInputGradient, kWindow, 8, 512));
  EXPECT_EQ(input.rows, 8 * 28 * 28);
  EXPECT_EQ(input.inner, 9 * 512);
  EXPECT_EQ(input.cols, 256);
  const ProductSizes weight =
      product_sizes(convolution(OpKind::kConvolutionWeightGradient, kWindow, 8, 512));
  EXPECT_EQ(weight.rows, 9 * 256);
  EXPECT_EQ(weight.inner, 8 * 28 * 28);
  EXPECT_EQ(weight.cols, 512);
}

// Of the 9 taps of a window that moves by two a pixel sees 9 / 4 in the mean.
TEST(ProductSizesTest, AStrideLeavesOutTapsOfTheInputGradient) {
  OpWindow window = kWindow;
  window.stride = 2;
  const ProductSizes input =
      product_sizes(convolution(OpKind::kConvolutionInputGradient, window, 8, 512));
  EXPECT_EQ(input.rows, 8 * 28 * 28);
  EXPECT_DOUBLE_EQ(input.inner, 9 * 512 / 4.0);
}

// A convolution of single pixels touches what a product does, so it costs what that costs.
TEST(ProductSizesTest, PixelByPixelAConvolutionCostsAProduct) {
  const DataFiles files = DataFiles::embedded();
  const DeviceType a100 = find_device(files, "a100-80gb-sxm").value();
  OpWindow window = kWindow;
  window.kernel = 1;
  window.padding = 0;
  Operation pixels = convolution(OpKind::kConvolution, window, 8, 512);
  Operation product;
  product.kind = OpKind::kGemm;
  product.transpose_b = true;
  product.shape = {.rows = 8 * 28 * 28, .cols = 512, .inner = 256};
  pixels.dtype = product.dtype = DType::kBFloat16;
  EXPECT_EQ(flops_of(pixels), flops_of(product));
  EXPECT_EQ(bytes_moved(pixels), bytes_moved(product));
  EXPECT_EQ(compute_time(pixels, a100), compute_time(product, a100));
  const auto cost = make_calibrated_cost(load_step_constants(files).value(),
                                         find_framework(files, "stagewright").value());
  const double ratio = to_seconds(cost->operation(pixels, a100).time) /
                       to_seconds(cost->operation(product, a100).time);
  EXPECT_NEAR(ratio, 1, 0.25);  // products may have a learned price, which convolutions have not
}

// 3 x 3 windows do nine times the work over the same image.
TEST(ProductSizesTest, WindowsAreNotLaidOutInMemory) {
  const Operation op = convolution(OpKind::kConvolution, kWindow, 8, 512);
  const double images = 8.0 * 28 * 28;
  EXPECT_DOUBLE_EQ(flops_of(op).count(), 2 * images * 512 * 9 * 256);
  EXPECT_EQ(bytes_moved(op).count(), 4 * (8 * 28 * 28 * (256 + 512) + 9 * 256 * 512));
}

}  // namespace
}  // namespace stagewright
