#include "sim/analysis/order_statistics.h"

#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

std::vector<Duration> values(std::initializer_list<int> counts) {
  return {counts.begin(), counts.end()};
}

TEST(OrderStatistics, MedianIsTheMiddleOrTheMeanOfTheTwo) {
  EXPECT_EQ(median(values({9, 1, 4})), Duration(4));
  EXPECT_EQ(median(values({9, 1, 4, 6})), Duration(5));
  EXPECT_EQ(median(values({7})), Duration(7));
}

// Quartiles of 0, 10, 20, 30, 40 are 10 and 30; of 0, 10, 20, 30 they are 7.5 and 22.5, rounded.
TEST(OrderStatistics, HalfTheQuartileDistance) {
  EXPECT_EQ(half_quartile_distance(values({40, 0, 30, 10, 20})), Duration(10));
  EXPECT_EQ(half_quartile_distance(values({0, 10, 20, 30})), Duration((23 - 8) / 2));
  EXPECT_EQ(half_quartile_distance(values({5})), Duration(0));
}

}  // namespace
}  // namespace stagewright
