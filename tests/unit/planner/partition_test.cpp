#include "planner/search/partition.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

PartitionProblem random_problem(std::mt19937& random) {
  PartitionProblem problem;
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const int layers = number(1, 9);
  const int stages = number(1, std::min(layers, 5));
  for (int i = 0; i < layers; ++i) {
    problem.layers.push_back({.forward = Duration(number(0, 9)),
                              .backward = Duration(number(0, 19)),
                              .state = Bytes(number(0, 30)),
                              .saved = Bytes(number(0, 10))});
  }
  for (int s = 0; s < stages; ++s) {
    problem.in_flight.push_back(stages - s);
  }
  if (number(0, 1) == 1) {
    problem.capacity = Bytes(number(20, 160));
  }
  return problem;
}

/// Every way to cut `layers` into `stages`, tried one by one.
std::optional<Duration> brute_force(const PartitionProblem& problem) {
  const int layers = static_cast<int>(problem.layers.size());
  const int stages = static_cast<int>(problem.in_flight.size());
  std::optional<Duration> best;
  for (int cuts = 0; cuts < (1 << (layers - 1)); ++cuts) {
    if (__builtin_popcount(static_cast<unsigned>(cuts)) != stages - 1) {
      continue;
    }
    Duration slowest{};
    bool fits = true;
    int stage = 0;
    LayerCost sum;
    for (int i = 0; i < layers; ++i) {
      const LayerCost& layer = problem.layers[static_cast<std::size_t>(i)];
      sum.forward += layer.forward + layer.backward;
      sum.state += layer.state;
      sum.saved += layer.saved;
      if (i == layers - 1 || ((cuts >> i) & 1) != 0) {
        const auto flight = problem.in_flight[static_cast<std::size_t>(stage++)];
        fits = fits && (!problem.capacity || sum.state + sum.saved * flight <= *problem.capacity);
        slowest = std::max(slowest, sum.forward);
        sum = {};
      }
    }
    if (fits && (!best || slowest < *best)) {
      best = slowest;
    }
  }
  return best;
}

TEST(Partition, EqualsBruteForceOnRandomChains) {
  constexpr unsigned kSeed = 20240;
  std::mt19937 random(kSeed);
  int feasible = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const PartitionProblem problem = random_problem(random);
    const auto expected = brute_force(problem);
    const auto found = partition(problem);
    ASSERT_EQ(found.has_value(), expected.has_value()) << "seed " << kSeed << " trial " << trial;
    if (found) {
      ++feasible;
      ASSERT_EQ(found->slowest, *expected) << "seed " << kSeed << " trial " << trial;
      ASSERT_EQ(std::accumulate(found->layers.begin(), found->layers.end(), 0),
                static_cast<int>(problem.layers.size()));
      ASSERT_TRUE(std::ranges::all_of(found->layers, [](int n) { return n >= 1; }));
    }
  }
  EXPECT_GT(feasible, 1000);
}

TEST(Partition, FewerLayersThanStagesHasNoAnswer) {
  EXPECT_FALSE(partition({.layers = {LayerCost{}}, .in_flight = {2, 1}, .capacity = {}}));
}

}  // namespace
}  // namespace stagewright
