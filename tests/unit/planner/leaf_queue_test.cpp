#include "planner/search/leaf_queue.h"

#include <limits>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

Leaf leaf(double value, std::int32_t tp) {
  Leaf leaf;
  leaf.value = value;
  leaf.point.tp = tp;
  return leaf;
}

std::vector<std::int32_t> degrees(const std::vector<Leaf>& leaves) {
  std::vector<std::int32_t> degrees;
  for (const Leaf& leaf : leaves) {
    degrees.push_back(leaf.point.tp);
  }
  return degrees;
}

constexpr auto kNeverEnough = [](double) { return false; };

TEST(LeafQueue, TakesTheLeastBoundsThatAreAlike) {
  LeafQueue queue;
  EXPECT_EQ(queue.least(), std::numeric_limits<double>::infinity());
  queue.add(leaf(3, 1), false);
  queue.add(leaf(1, 2), true);
  queue.add(leaf(2, 3), true);
  queue.add(leaf(1, 4), true);
  queue.add(leaf(1, 5), false);
  EXPECT_EQ(queue.least(), 1);
  EXPECT_EQ(degrees(queue.take(8, kNeverEnough)), std::vector<std::int32_t>{5});
  EXPECT_TRUE(queue.first_is_refined());
  EXPECT_EQ(degrees(queue.take(2, kNeverEnough)), (std::vector<std::int32_t>{2, 4}));
  EXPECT_EQ(degrees(queue.take(8, kNeverEnough)), std::vector<std::int32_t>{3});
  EXPECT_EQ(degrees(queue.take(8, kNeverEnough)), std::vector<std::int32_t>{1});
  EXPECT_TRUE(queue.empty());
}

TEST(LeafQueue, LeavesWhatIsNotAskedFor) {
  LeafQueue queue;
  for (const int value : {1, 2, 3}) {
    queue.add(leaf(value, value), false);
  }
  EXPECT_EQ(degrees(queue.take(8, [](double next) { return next >= 3; })),
            (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(queue.least(), 3);
}

}  // namespace
}  // namespace stagewright
