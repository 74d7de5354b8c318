#include "runtime/comm/reduce.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/compute/kernels/convert.h"

namespace stagewright {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Accumulate, AddsAndComparesElementByElement) {
  std::vector<float> sum = {1.0F, -2.0F, 3.5F};
  std::vector<float> largest = sum;
  const std::vector<float> in = {0.25F, 4.0F, -1.0F};
  accumulate(ElementType::kFloat32, Reduction::kSum, sum.data(), in.data(), 3);
  accumulate(ElementType::kFloat32, Reduction::kMax, largest.data(), in.data(), 3);
  EXPECT_EQ(sum, (std::vector<float>{1.25F, 2.0F, 2.5F}));
  EXPECT_EQ(largest, (std::vector<float>{1.0F, 4.0F, 3.5F}));
}

TEST(Accumulate, KeepsANanOfEitherSide) {
  std::vector<float> largest = {kNan, 1.0F};
  const std::vector<float> in = {1.0F, kNan};
  accumulate(ElementType::kFloat32, Reduction::kMax, largest.data(), in.data(), 2);
  EXPECT_TRUE(std::isnan(largest[0]));
  EXPECT_TRUE(std::isnan(largest[1]));
}

// 256 + 1 lies between two bf16 values and goes to the even one; 2048 + 1 does so in fp16.
TEST(Accumulate, Adds16BitTypesAsFloatAndRounds) {
  std::vector<std::uint16_t> bfloat = {kernels::to_bfloat16(256.0F), kernels::to_bfloat16(1.5F)};
  const std::vector<std::uint16_t> bfloat_in = {kernels::to_bfloat16(1.0F),
                                                kernels::to_bfloat16(-4.0F)};
  accumulate(ElementType::kBFloat16, Reduction::kSum, bfloat.data(), bfloat_in.data(), 2);
  EXPECT_EQ(kernels::from_bfloat16(bfloat[0]), 256.0F);
  EXPECT_EQ(kernels::from_bfloat16(bfloat[1]), -2.5F);
  std::vector<std::uint16_t> half = {kernels::to_float16(2048.0F), kernels::to_float16(-1.0F)};
  const std::vector<std::uint16_t> half_in = {kernels::to_float16(1.0F),
                                              kernels::to_float16(-0.5F)};
  std::vector<std::uint16_t> largest = half;
  accumulate(ElementType::kFloat16, Reduction::kSum, half.data(), half_in.data(), 2);
  accumulate(ElementType::kFloat16, Reduction::kMax, largest.data(), half_in.data(), 2);
  EXPECT_EQ(kernels::from_float16(half[0]), 2048.0F);
  EXPECT_EQ(kernels::from_float16(half[1]), -1.5F);
  EXPECT_EQ(kernels::from_float16(largest[1]), -0.5F);
}

TEST(Accumulate, WrapsIntegersThatOverflow) {
  std::int32_t sum = std::numeric_limits<std::int32_t>::max();
  const std::int32_t one = 1;
  accumulate(ElementType::kInt32, Reduction::kSum, &sum, &one, 1);
  EXPECT_EQ(sum, std::numeric_limits<std::int32_t>::min());
}

TEST(Accumulate, LeavesNothingChangedForNoElements) {
  std::int32_t largest = 7;
  accumulate(ElementType::kInt32, Reduction::kMax, &largest, nullptr, 0);
  EXPECT_EQ(largest, 7);
}

}  // namespace
}  // namespace stagewright
