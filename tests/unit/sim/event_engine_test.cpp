#include "sim/engine/event_engine.h"

#include <vector>

#include <gtest/gtest.h>

#include "event_graph_maker.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::EventGraphMaker;

using Times = std::vector<Duration>;

/// A link that one flow fills.
RouteIndex over(EventGraph& graph, const std::vector<LinkIndex>& links, Duration latency = {}) {
  std::vector<LinkUse> uses;
  for (const LinkIndex link : links) {
    uses.push_back({link, 1});
  }
  return graph.network.add_route(BytesPerSecond(1), latency, uses, {});
}
LinkIndex link(EventGraph& graph, double capacity = 1) {
  return graph.network.add_link("link", BytesPerSecond(capacity));
}

// Both begin at 0 and take 10 ms alone: at half speed both end at 20 ms.
TEST(EventEngine, TwoFlowsThatBeginTogetherOverOneNicTakeTwiceAsLong) {
  EventGraphMaker maker({0});
  const RouteIndex nic = over(maker.graph, {link(maker.graph)});
  maker.flow(nic, 10ms);
  maker.flow(nic, 10ms);
  const EventTimes times = maker.run();
  EXPECT_EQ(times.end, (Times{20ms, 20ms}));
  EXPECT_EQ(times.makespan, Duration(20ms));
  ASSERT_EQ(times.lost_seconds.size(), 1U);
  EXPECT_NEAR(times.lost_seconds[0], 0.02, 1e-12);  // each lost half of 20 ms
}

// The second comes at 6 ms.  The first has 4 ms left, at half speed until 14 ms; by then the
// second has sent 4 of its 10 ms, and ends 6 ms later.
TEST(EventEngine, AFlowIsSlowedOnlyWhileAnotherIsThere) {
  EventGraphMaker maker({0});
  const RouteIndex nic = over(maker.graph, {link(maker.graph)});
  maker.flow(nic, 10ms);
  maker.flow(nic, 10ms, {maker.compute(0, 6ms)});
  EXPECT_EQ(maker.run().end, (Times{14ms, 6ms, 20ms}));
}

TEST(EventEngine, FlowsThatFollowEachOtherDoNotMeet) {
  EventGraphMaker maker({0});
  const RouteIndex nic = over(maker.graph, {link(maker.graph)}, 1ms);
  const NodeIndex first = maker.flow(nic, 10ms);
  maker.flow(nic, 10ms, {first});
  EXPECT_EQ(maker.run().end, (Times{10ms, 20ms}));
}

// The last byte leaves at 9 ms and arrives at 10 ms: who comes at 9 ms has the link to itself.
TEST(EventEngine, WhatIsOnItsWayHasLeftTheLink) {
  EventGraphMaker maker({0});
  const RouteIndex nic = over(maker.graph, {link(maker.graph)}, 1ms);
  maker.flow(nic, 10ms);
  maker.flow(nic, 10ms, {maker.compute(0, 9ms)});
  EXPECT_EQ(maker.run().end, (Times{10ms, 9ms, 19ms}));
}

// Both send 9 ms of bytes at half speed, until 18 ms; the latency is not slowed.
TEST(EventEngine, LatencyIsNotShared) {
  EventGraphMaker maker({0});
  const RouteIndex nic = over(maker.graph, {link(maker.graph)}, 1ms);
  maker.flow(nic, 10ms);
  maker.flow(nic, 10ms);
  EXPECT_EQ(maker.run().end, (Times{19ms, 19ms}));
}

// Four nodes under a switch whose trunk has half the sum of their ports: four flows out at once
// take twice as long; two fit.
TEST(EventEngine, AnOversubscribedTrunkIsFullWhenAllLeaveAtOnce) {
  for (const int flows : {2, 4}) {
    EventGraphMaker maker({0});
    const LinkIndex trunk = link(maker.graph, 2);
    for (int i = 0; i < flows; ++i) {
      maker.flow(over(maker.graph, {link(maker.graph), trunk}), 10ms);
    }
    const Duration expected = flows == 2 ? 10ms : 20ms;
    EXPECT_EQ(maker.run().end, Times(static_cast<std::size_t>(flows), expected));
  }
}

// A and B share link 1, B and C link 2.  B ends first at half speed with its 2 ms at 4 ms; A and C
// have sent 2 of 10 ms by then: they end at 12 ms.  D elsewhere is not touched.
TEST(EventEngine, SpeedsChangeOnlyAroundWhatCameOrWent) {
  EventGraphMaker maker({0});
  const LinkIndex one = link(maker.graph);
  const LinkIndex two = link(maker.graph);
  maker.flow(over(maker.graph, {one}), 10ms);
  maker.flow(over(maker.graph, {one, two}), 2ms);
  maker.flow(over(maker.graph, {two}), 10ms);
  maker.flow(over(maker.graph, {link(maker.graph)}), 10ms);
  EXPECT_EQ(maker.run().end, (Times{12ms, 4ms, 12ms, 10ms}));
}

// Two ranks on one device, 10 and 4 ms: both at half speed until 8 ms, when the second is done; the
// first has 6 ms left.
TEST(EventEngine, RanksOnOneDeviceShareItsCompute) {
  EventGraphMaker maker({0, 0});
  maker.compute(0, 10ms);
  maker.compute(1, 4ms);
  EXPECT_EQ(maker.run().end, (Times{14ms, 8ms}));
}

TEST(EventEngine, RanksOnDevicesOfTheirOwnDoNotShare) {
  EventGraphMaker maker({0, 1});
  maker.compute(0, 10ms);
  maker.compute(1, 4ms);
  EXPECT_EQ(maker.run().end, (Times{10ms, 4ms}));
}

// A message of 5 ms from device 0: computation there runs at 1 / 1.25 meanwhile, so it has done
// 4 ms at 5 ms and ends at 11 ms.  Device 1 is at the other end, device 2 at none.
TEST(EventEngine, CommunicationSlowsTheComputationOfItsDevices) {
  EventGraphMaker maker({0, 1, 2});
  const std::vector<std::int32_t> ends = {0, 1};
  const RouteIndex route = maker.graph.network.add_route(BytesPerSecond(1), {}, {}, ends);
  maker.flow(route, 5ms);
  for (const std::int32_t rank : {0, 1, 2}) {
    maker.compute(rank, 10ms);
  }
  EXPECT_EQ(maker.run({.compute_slowdown = 1.25}).end, (Times{5ms, 11ms, 11ms, 10ms}));
  EXPECT_EQ(maker.run().end, (Times{5ms, 10ms, 10ms, 10ms}));
}

// The message is on its way from 4 to 5 ms and does not occupy its devices: 4 ms at 1 / 1.25 do
// 3.2 ms of work, 6.8 are left.
TEST(EventEngine, ComputationIsSlowedWhileBytesAreSent) {
  EventGraphMaker maker({0, 1});
  const std::vector<std::int32_t> ends = {0, 1};
  maker.flow(maker.graph.network.add_route(BytesPerSecond(1), 1ms, {}, ends), 5ms);
  maker.compute(0, 10ms);
  EXPECT_EQ(maker.run({.compute_slowdown = 1.25}).end, (Times{5ms, Duration(10800us)}));
}

TEST(EventEngine, AnEngineGivesTheSameTimesAgain) {
  EventGraphMaker maker({0, 0});
  const RouteIndex nic = over(maker.graph, {link(maker.graph)}, 1ms);
  const NodeIndex first = maker.compute(0, 3ms);
  const NodeIndex second = maker.compute(1, 5ms);
  maker.flow(nic, 10ms, {first});
  maker.flow(nic, 7ms, {second});
  maker.run();
  EventEngine engine(maker.graph);
  const EventTimes once = engine.run(maker.graph.alone);
  EXPECT_EQ(engine.run(maker.graph.alone), once);
}

TEST(EventEngine, AGraphWithoutNodesTakesNoTime) {
  EventGraphMaker maker({0});
  EXPECT_EQ(maker.run().makespan, Duration{});
}

TEST(EventEngine, WhatTakesNoTimeTakesNoneOverAFullLinkEither) {
  EventGraphMaker maker({0, 0});
  const RouteIndex nic = over(maker.graph, {link(maker.graph)}, 1ms);
  maker.flow(nic, 10ms);
  maker.flow(nic, Duration{});
  maker.compute(0, Duration{});
  maker.compute(1, 1ms);
  EXPECT_EQ(maker.run().end, (Times{10ms, Duration{}, Duration{}, 1ms}));
}

}  // namespace
}  // namespace stagewright
