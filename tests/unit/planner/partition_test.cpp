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
    const int saved = number(0, 10);
    problem.layers.push_back({.time = Duration(number(0, 28)),
                              .state = Bytes(number(0, 30)),
                              .saved = Bytes(saved),
                              .time_again = Duration(number(0, 9)),
                              .saved_again = Bytes(number(0, saved)),
                              .transfer = Duration(number(0, 3))});
  }
  for (int s = 0; s < stages; ++s) {
    problem.in_flight.push_back(stages - s);
  }
  if (number(0, 1) == 1) {
    problem.capacity = Bytes(number(20, 160));
    problem.recompute = number(0, 1) == 1;
  }
  return problem;
}

/// Least time of layers [begin, end) as a stage, over all numbers of recomputed layers; nothing if
/// none fits.
std::optional<Duration> stage_time(const PartitionProblem& problem,
                                   std::size_t stage,
                                   std::size_t begin,
                                   std::size_t end) {
  std::optional<Duration> best;
  for (std::size_t again = 0; again <= (problem.recompute ? end - begin : 0); ++again) {
    Duration time{};
    double bytes = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const PartitionLayer& layer = problem.layers[i];
      const bool recomputed = i - begin < again;
      time += layer.time + (recomputed ? layer.time_again : Duration{});
      bytes += static_cast<double>(layer.state.count()) +
               problem.in_flight[stage] *
                   static_cast<double>((recomputed ? layer.saved_again : layer.saved).count());
    }
    time += begin > 0 ? problem.layers[begin].transfer : Duration{};
    time += end < problem.layers.size() ? problem.layers[end].transfer : Duration{};
    const bool fits = !problem.capacity || bytes <= static_cast<double>(problem.capacity->count());
    if (fits && (!best || time < *best)) {
      best = time;
    }
  }
  return best;
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
    std::size_t stage = 0;
    std::size_t begin = 0;
    for (int i = 0; i < layers; ++i) {
      if (i == layers - 1 || ((cuts >> i) & 1) != 0) {
        const auto end = static_cast<std::size_t>(i) + 1;
        const auto time = stage_time(problem, stage++, begin, end);
        fits = fits && time.has_value();
        slowest = std::max(slowest, time.value_or(Duration{}));
        begin = end;
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
  EXPECT_FALSE(partition({.layers = {PartitionLayer{}}, .in_flight = {2, 1}, .capacity = {}}));
}

}  // namespace
}  // namespace stagewright
