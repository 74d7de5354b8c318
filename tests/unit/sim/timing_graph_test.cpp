#include "sim/engine/timing_graph.h"

#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using namespace std::chrono_literals;

std::vector<Duration> starts_of(const TimingGraph& graph, const std::vector<Duration>& durations) {
  std::vector<Duration> starts(durations.size());
  time_actions(graph, durations, starts);
  return starts;
}

// a(3) and b(5) feed c; d follows c, but may start 2 before its end.
TEST(TimingGraph, NodeStartsWhenTheLastOfItsEdgesAllows) {
  TimingGraphBuilder builder;
  const NodeIndex d = builder.add_node();
  const NodeIndex a = builder.add_node();
  const NodeIndex b = builder.add_node();
  const NodeIndex c = builder.add_node();
  builder.add_edge(c, d, EdgeKind::kStream, -2ns);
  builder.add_edge(a, c, EdgeKind::kData);
  builder.add_edge(b, c, EdgeKind::kData, 1ns);
  const TimingGraphBuilder::Built built = builder.build();
  EXPECT_TRUE(built.cycle.empty());
  EXPECT_EQ(starts_of(built.graph, {1ns, 3ns, 5ns, 4ns}),
            (std::vector<Duration>{8ns, 0ns, 0ns, 6ns}));
}

TEST(TimingGraph, NothingStartsBeforeZero) {
  TimingGraphBuilder builder;
  const NodeIndex a = builder.add_node();
  const NodeIndex b = builder.add_node();
  builder.add_edge(a, b, EdgeKind::kData, -10ns);
  EXPECT_EQ(starts_of(builder.build().graph, {1ns, 1ns}), (std::vector<Duration>{0ns, 0ns}));
}

// b and d get edges after newer nodes are there: they come behind those before, in their order.
TEST(TimingGraph, EdgesOfANodeKeepTheOrderInWhichTheyCame) {
  TimingGraphBuilder builder;
  const NodeIndex a = builder.add_node();
  const NodeIndex b = builder.add_node();
  builder.add_edge(a, b, EdgeKind::kData, 1ns);
  const NodeIndex c = builder.add_node();
  const NodeIndex d = builder.add_node();
  builder.add_edge(b, d, EdgeKind::kStream, 2ns);
  builder.add_edge(c, b, EdgeKind::kIssue, 3ns);
  const NodeIndex e = builder.add_node();
  builder.add_edge(d, e, EdgeKind::kData, 4ns);
  builder.add_edge(a, d, EdgeKind::kData, 5ns);
  builder.add_edge(a, b, EdgeKind::kStream, 6ns);
  builder.add_edge(c, d, EdgeKind::kIssue, 7ns);
  const TimingGraphBuilder::Built built = builder.build();
  EXPECT_TRUE(built.cycle.empty());
  EXPECT_EQ(built.graph.edge_begin, (std::vector<std::int32_t>{0, 0, 3, 3, 6, 7}));
  EXPECT_EQ(built.graph.from, (std::vector<NodeIndex>{a, c, a, b, a, c, d}));
  EXPECT_EQ(built.graph.lag, (std::vector<Duration>{1ns, 3ns, 6ns, 2ns, 5ns, 7ns, 4ns}));
  EXPECT_EQ(built.graph.kind,
            (std::vector<EdgeKind>{EdgeKind::kData,
                                   EdgeKind::kIssue,
                                   EdgeKind::kStream,
                                   EdgeKind::kStream,
                                   EdgeKind::kData,
                                   EdgeKind::kIssue,
                                   EdgeKind::kData}));
  EXPECT_EQ(starts_of(built.graph, {1ns, 1ns, 1ns, 1ns, 1ns}),
            (std::vector<Duration>{0ns, 7ns, 0ns, 10ns, 15ns}));
}

TEST(TimingGraph, EmptyGraphIsFine) {
  const TimingGraphBuilder::Built built = TimingGraphBuilder().build();
  EXPECT_TRUE(built.cycle.empty());
  EXPECT_EQ(built.graph.nodes(), 0U);
}

// 0 -> 1 -> 2 -> 3 -> 1, and 4 behind the cycle: 1 waits for 3, that for 2, and that for 1.
TEST(TimingGraph, CycleIsGivenInTheOrderInWhichItsNodesWait) {
  TimingGraphBuilder builder;
  for (int i = 0; i < 5; ++i) {
    builder.add_node();
  }
  builder.add_edge(0, 1, EdgeKind::kData);
  builder.add_edge(1, 2, EdgeKind::kData);
  builder.add_edge(2, 3, EdgeKind::kData);
  builder.add_edge(3, 1, EdgeKind::kData);
  builder.add_edge(3, 4, EdgeKind::kData);
  EXPECT_EQ(builder.build().cycle, (std::vector<NodeIndex>{1, 3, 2}));
}

}  // namespace
}  // namespace stagewright
