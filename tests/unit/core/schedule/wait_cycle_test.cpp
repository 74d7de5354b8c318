#include "core/schedule/wait_cycle.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

std::string cycle_of(std::size_t length) {
  return wait_cycle_text(length, [](std::size_t i) {
    return WaitLink{"a" + std::to_string(i), i % 2 == 0 ? "waits for" : "is reached only after"};
  });
}

TEST(WaitCycle, NamesAllOfAShortOne) {
  EXPECT_EQ(cycle_of(1), "a0 waits for itself");
  EXPECT_EQ(cycle_of(2), "a0 waits for a1, which is reached only after a0");
  EXPECT_EQ(cycle_of(3), "a0 waits for a1, which is reached only after a2, which waits for a0");
}

TEST(WaitCycle, LeavesOutTheMiddleOfALongOne) {
  EXPECT_EQ(cycle_of(11).find("so on"), std::string::npos);
  EXPECT_EQ(
      cycle_of(100),
      "a0 waits for a1, which is reached only after a2, which waits for a3, which is reached only "
      "after a4, "
      "and so on over 90 more to a95, which is reached only after a96, which waits for a97, which "
      "is reached only after a98, which waits for a99, which is reached only after a0");
}

std::vector<int> shortest(const std::map<int, std::vector<int>>& waits_for, int start) {
  return shortest_wait_cycle<int>({start}, [&](int node) { return waits_for.at(node); });
}

// 0 leads into 1 -> 2 -> 3 -> 4 -> 1, whose 3 waits for 2 as well.
TEST(WaitCycle, IsTheShortestThroughWhatTheStartLeadsTo) {
  EXPECT_EQ(shortest({{0, {1}}, {1, {2}}, {2, {3}}, {3, {4, 2}}, {4, {1}}}, 0),
            (std::vector<int>{2, 3}));
  EXPECT_EQ(shortest({{0, {1}}, {1, {2}}, {2, {1}}}, 0), (std::vector<int>{1, 2}));
  EXPECT_EQ(shortest({{0, {0}}}, 0), (std::vector<int>{0}));
}

// Every one waits for its neighbour; the search gives up before it has looked from each of them.
TEST(WaitCycle, OfManyComesBackSoon) {
  constexpr int kMany = 100'000;
  const std::vector<int> cycle =
      shortest_wait_cycle<int>({0}, [](int node) { return std::vector<int>{(node + 1) % kMany}; });
  EXPECT_EQ(cycle.size(), static_cast<std::size_t>(kMany));
}

}  // namespace
}  // namespace stagewright
