#include "sim/engine/sweep_graph.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

/// Nodes in random order, each waiting for up to five others.
TimingGraph random_graph(std::mt19937& random, std::int32_t nodes, std::int64_t most_lag) {
  const auto below = [&random](std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
  };
  TimingGraphBuilder builder;
  std::vector<NodeIndex> number;
  for (NodeIndex i = 0; i < nodes; ++i) {
    number.push_back(builder.add_node());
  }
  std::ranges::shuffle(number, random);
  for (std::int32_t to = 1; to < nodes; ++to) {
    for (auto edges = below(6); edges > 0; --edges) {
      const Duration lag(below(2) == 0 ? 0 : below(2 * most_lag) - most_lag);
      builder.add_edge(number[static_cast<std::size_t>(below(to))],
                       number[static_cast<std::size_t>(to)],
                       EdgeKind::kData,
                       lag);
    }
  }
  return builder.build().graph;
}

std::vector<Duration> starts_of(const CompiledGraph& compiled,
                                const std::vector<Duration>& durations) {
  std::vector<Duration> by_index(compiled.graph.size());
  compiled.spread(durations, by_index);
  std::vector<Duration> ends(compiled.graph.size());
  sweep(compiled.graph, compiled.lags, by_index, ends);
  std::vector<Duration> starts;
  for (std::size_t node = 0; node < durations.size(); ++node) {
    starts.push_back(ends[static_cast<std::size_t>(compiled.index[node])] - durations[node]);
  }
  return starts;
}

/// Whether the compiled graph gives the starts of the graph itself, to the picosecond.
void expect_equal_times(const TimingGraph& graph, std::mt19937& random) {
  std::uniform_int_distribution<std::int64_t> length(0, 1000);
  std::vector<Duration> durations;
  for (std::size_t i = 0; i < graph.nodes(); ++i) {
    durations.emplace_back(length(random));
  }
  std::vector<Duration> starts(graph.nodes());
  time_actions(graph, durations, starts);
  ASSERT_EQ(starts_of(compile(graph), durations), starts);
}

TEST(SweepGraph, CompiledGraphGivesTheTimesOfTheGraph) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    expect_equal_times(random_graph(random, 1 + i, 300), random);
  }
}

// Classes of work are numbers of 16 bits; here are more lags than that.
TEST(SweepGraph, MoreLagsThanClassesAreFine) {
  constexpr std::uint32_t kSeed = 4711;
  std::mt19937 random(kSeed);
  const TimingGraph graph = random_graph(random, 60'000, 1'000'000'000);
  const CompiledGraph compiled = compile(graph);
  EXPECT_EQ(compiled.lags.size(), 65'536U);
  EXPECT_FALSE(compiled.long_lags.empty());
  expect_equal_times(graph, random);
}

TEST(SweepGraph, EmptyGraphIsTheOrigin) {
  EXPECT_EQ(compile(TimingGraphBuilder().build().graph).graph, SweepGraph{});
}

// b waits for a and 5 more; its second edge is delayed by another 2.
TEST(SweepGraph, DelayComesOnTopOfTheLag) {
  SweepGraph graph;
  const SweepIndex a = graph.add(0, 0, 0);
  graph.add(0, a, 1);
  const std::vector<Duration> lags = {Duration(0), Duration(5)};
  const std::vector<Duration> durations = {Duration(0), Duration(10), Duration(1)};
  const std::vector<Duration> delays = {Duration(0), Duration(0), Duration(2)};
  std::vector<Duration> ends(3);
  sweep(graph, lags, durations, delays, ends);
  EXPECT_EQ(ends, (std::vector<Duration>{Duration(0), Duration(10), Duration(18)}));
}

TEST(SweepGraph, HoldComesBeforeWhatWaitsByItsFirstEdge) {
  SweepGraph graph;
  const SweepIndex one = graph.add(0, 0, 1);      // 0 .. 3
  const SweepIndex other = graph.add(0, one, 1);  // 3 .. 6: by its second edge it does not wait
  const SweepIndex next = graph.add(one, 0, 1);   // 3 + 7 .. 13
  const SweepIndex last = graph.add(next, other, 1);
  const std::vector<Duration> lags{Duration(0), Duration(0)};
  const std::vector<Duration> prices{Duration(0), Duration(3)};
  std::vector<Duration> holds(graph.size());
  holds[static_cast<std::size_t>(one)] = Duration(7);
  std::vector<Duration> ends(graph.size());
  sweep_by_class(graph, lags, prices, holds, ends);
  EXPECT_EQ(
      ends,
      (std::vector<Duration>{Duration(0), Duration(3), Duration(6), Duration(13), Duration(16)}));
  EXPECT_EQ(last, 4);
}

}  // namespace
}  // namespace stagewright
