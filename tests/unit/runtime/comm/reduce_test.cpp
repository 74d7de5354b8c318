#include "runtime/comm/reduce.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

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
