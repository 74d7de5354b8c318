#include "sim/analysis/event_summary.h"

#include <vector>

#include <gtest/gtest.h>

#include "event_graph_maker.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::EventGraphMaker;

// Rank 0 computes 10 ms, then two flows of 5 ms alone share a link until 20 ms; rank 1 computes 4
// ms.  The link is idle for half of the step; each flow loses 5 ms.
TEST(EventSummary, CountsBusyTimeAndWhatLinksCost) {
  EventGraphMaker maker({0, 1});
  const LinkIndex nic = maker.graph.network.add_link("nic", BytesPerSecond(100));
  maker.graph.network.add_link("idle", BytesPerSecond(100));
  const std::vector<LinkUse> uses{{nic, 1}};
  const RouteIndex route = maker.graph.network.add_route(BytesPerSecond(100), {}, uses, {});
  const NodeIndex first = maker.compute(0, 10ms);
  maker.flow(route, 5ms, {first});
  maker.flow(route, 5ms, {first});
  maker.compute(1, 4ms);
  const EventTimes times = maker.run();

  const EventSummary summary = summarize_events(maker.graph, maker.graph.alone, times);
  EXPECT_EQ(summary.step_time, Duration(20ms));
  EXPECT_EQ(summary.busy, (std::vector<Duration>{10ms, 4ms}));
  EXPECT_NEAR(summary.bubble, (0.5 + 0.8) / 2, 1e-12);
  ASSERT_EQ(summary.links.size(), 1U);
  EXPECT_EQ(summary.links[0].name, "nic");
  EXPECT_NEAR(summary.links[0].used, 0.5, 1e-12);
  EXPECT_NEAR(to_seconds(summary.links[0].lost), 0.010, 1e-12);
}

TEST(EventSummary, ARankThatOneStandsForIsAsBusyAsThatOne) {
  EventGraphMaker maker({0, 1});
  maker.compute(0, 10ms);
  const EventTimes times = maker.run();
  const std::vector<RankId> stands_for{RankId(0), RankId(0)};
  const EventSummary summary = summarize_events(maker.graph, maker.graph.alone, times, stands_for);
  EXPECT_EQ(summary.busy, (std::vector<Duration>{10ms, 10ms}));
  EXPECT_EQ(summary.bubble, 0);
}

TEST(EventSummary, AnEmptyStepHasNoBubble) {
  EventGraphMaker maker({0});
  const EventTimes times = maker.run();
  const EventSummary summary = summarize_events(maker.graph, maker.graph.alone, times);
  EXPECT_EQ(summary.bubble, 0);
  EXPECT_EQ(summary.links, std::vector<LinkLoad>{});
}

}  // namespace
}  // namespace stagewright
