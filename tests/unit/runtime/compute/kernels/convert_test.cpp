#include "runtime/compute/kernels/convert.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace stagewright::kernels {
namespace {

// 1 + 2^-8 lies half way between two bfloat16 numbers, and so does 1 + 3 * 2^-8.
TEST(Convert, RoundsToTheNearestBFloat16AndTiesToEven) {
  EXPECT_EQ(from_bfloat16(to_bfloat16(1.0F + std::ldexp(1.0F, -8))), 1.0F);
  EXPECT_EQ(from_bfloat16(to_bfloat16(1.0F + 3 * std::ldexp(1.0F, -8))),
            1.0F + 2 * std::ldexp(1.0F, -7));
  EXPECT_EQ(from_bfloat16(to_bfloat16(1.0F + 1.1F * std::ldexp(1.0F, -8))),
            1.0F + std::ldexp(1.0F, -7));
  EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isinf(from_bfloat16(to_bfloat16(std::numeric_limits<float>::max()))));
}

TEST(Convert, RoundsToTheNearestFloat16AndTiesToEven) {
  EXPECT_EQ(from_float16(to_float16(1.0F + std::ldexp(1.0F, -11))), 1.0F);
  EXPECT_EQ(from_float16(to_float16(1.0F + 3 * std::ldexp(1.0F, -11))),
            1.0F + 2 * std::ldexp(1.0F, -10));
  EXPECT_EQ(to_float16(65504.0F), 0x7bff);
  EXPECT_EQ(to_float16(65520.0F), 0x7c00);  // half way to 2^16
  EXPECT_EQ(to_float16(std::ldexp(1.0F, -24)), 0x0001);
  EXPECT_EQ(to_float16(std::ldexp(1.0F, -25)), 0x0000);
  EXPECT_EQ(to_float16(-std::ldexp(1.0F, -14)), 0x8400);
  EXPECT_TRUE(std::isnan(from_float16(to_float16(std::numeric_limits<float>::quiet_NaN()))));
}

// Every 16-bit pattern is exact in float, so the way back gives it again.
TEST(Convert, EveryPatternSurvivesTheWayThroughFloat) {
  std::vector<std::uint16_t> patterns;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    patterns.push_back(static_cast<std::uint16_t>(bits));
  }
  const auto count = static_cast<Index>(patterns.size());
  std::vector<float> wide(patterns.size());
  std::vector<std::uint16_t> back(patterns.size());
  convert(FromBFloat16{patterns.data(), wide.data()}, count);
  convert(ToBFloat16{wide.data(), back.data()}, count);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    EXPECT_TRUE(back[i] == patterns[i] || std::isnan(wide[i])) << patterns[i];
  }
  convert(FromFloat16{patterns.data(), wide.data()}, count);
  convert(ToFloat16{wide.data(), back.data()}, count);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    EXPECT_TRUE(back[i] == patterns[i] || std::isnan(wide[i])) << patterns[i];
  }
}

}  // namespace
}  // namespace stagewright::kernels
