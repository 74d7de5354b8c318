#include "study/statistics.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(Statistics, MedianIsTheMiddleOrTheMeanOfTheTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(mean({1, 2, 6}), 3);
}

// Values of the tables of Clopper and Pearson's method: none of 10 is up to 1 - 0.025^(1/10), and
// 5 of 10 lie between 0.187 and 0.813.
TEST(Statistics, IntervalsOfProportions) {
  EXPECT_EQ(proportion_interval(0, 10).first, 0);
  EXPECT_NEAR(proportion_interval(0, 10).second, 0.3085, 1e-4);
  EXPECT_NEAR(proportion_interval(5, 10).first, 0.1871, 1e-4);
  EXPECT_NEAR(proportion_interval(5, 10).second, 0.8129, 1e-4);
  EXPECT_NEAR(proportion_interval(6, 7).first, 0.4213, 1e-4);
  EXPECT_NEAR(proportion_interval(10, 10).first, 0.6915, 1e-4);
  EXPECT_EQ(proportion_interval(10, 10).second, 1);
}

}  // namespace
}  // namespace stagewright
