#include "planner/search/equal_layers.h"

#include <random>

#include <gtest/gtest.h>

#include "planner/search/partition.h"

namespace stagewright {
namespace {

TEST(EqualLayers, AreCutAsByDynamicProgramming) {
  std::mt19937 random(7);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int trial = 0; trial < 4000; ++trial) {
    const int between = number(1, 30);
    const int each = number(1, 12);
    std::vector<Duration> times(static_cast<std::size_t>(between) + 2, Duration(each));
    times.front() = Duration(number(0, 40));
    times.back() = Duration(number(0, 40));
    const auto stages = static_cast<std::int32_t>(number(1, between + 2));
    PartitionProblem problem;
    for (const Duration time : times) {
      problem.layers.push_back({.time = time});
    }
    problem.in_flight.assign(static_cast<std::size_t>(stages), 1);
    const auto chain = equal_layers(times);
    ASSERT_TRUE(chain.has_value());
    EXPECT_EQ(cut_equal_layers(*chain, stages), partition(problem)->layers)
        << times.front().count() << " + " << between << " x " << each << " + "
        << times.back().count() << " in " << stages;
  }
}

TEST(EqualLayers, OthersAreNot) {
  const std::vector<Duration> unlike{Duration(1), Duration(2), Duration(3), Duration(1)};
  EXPECT_FALSE(equal_layers(unlike).has_value());
  const std::vector<Duration> free{Duration(1), Duration(0), Duration(0), Duration(1)};
  EXPECT_FALSE(equal_layers(free).has_value());
  const std::vector<Duration> none{Duration(1), Duration(1)};
  EXPECT_FALSE(equal_layers(none).has_value());
}

}  // namespace
}  // namespace stagewright
