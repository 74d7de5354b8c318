#include "sim/network/max_min.h"

#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using Share = MaxMinSolver::Share;

std::vector<Share> solved(const LinkNetwork& network, const std::vector<RouteIndex>& flows) {
  MaxMinSolver solver(network);
  std::vector<Share> shares(flows.size());
  solver.solve(flows, shares);
  return shares;
}

RouteIndex route(LinkNetwork& network, double rate, const std::vector<LinkUse>& uses) {
  return network.add_route(BytesPerSecond(rate), {}, uses, {});
}

// x1 + x2 <= 10, x1, x2 <= 10: 5 each.
TEST(MaxMin, TwoFlowsOverOneLinkGetHalfEach) {
  LinkNetwork network;
  const LinkIndex nic = network.add_link("nic", BytesPerSecond(10));
  const RouteIndex flow = route(network, 10, {{nic, 1}});
  EXPECT_EQ(solved(network, {flow, flow}), (std::vector<Share>{{0.5, nic}, {0.5, nic}}));
}

TEST(MaxMin, AFlowAloneHasItsRate) {
  LinkNetwork network;
  const LinkIndex nic = network.add_link("nic", BytesPerSecond(10));
  EXPECT_EQ(solved(network, {route(network, 10, {{nic, 1}})}), (std::vector<Share>{{1, {}}}));
}

// x1 <= 2 by itself, x1 + x2 <= 10: the other gets the 8 that are left.
TEST(MaxMin, WhatASlowFlowLeavesGoesToTheOther) {
  LinkNetwork network;
  const LinkIndex nic = network.add_link("nic", BytesPerSecond(10));
  const RouteIndex slow = route(network, 2, {{nic, 1}});
  const RouteIndex fast = route(network, 10, {{nic, 1}});
  EXPECT_EQ(solved(network, {slow, fast}), (std::vector<Share>{{1, {}}, {0.8, nic}}));
}

// A line of two links of 10 and 6.  x1 over both, x2 over the first, x3 over the second:
// x1 + x3 <= 6 fills first, 3 each; then x2 = 10 - 3 = 7.
TEST(MaxMin, TheFullestLinkIsSharedFirst) {
  LinkNetwork network;
  const LinkIndex wide = network.add_link("wide", BytesPerSecond(10));
  const LinkIndex narrow = network.add_link("narrow", BytesPerSecond(6));
  const RouteIndex both = route(network, 6, {{wide, 1}, {narrow, 1}});
  const RouteIndex first = route(network, 10, {{wide, 1}});
  const RouteIndex second = route(network, 6, {{narrow, 1}});
  EXPECT_EQ(solved(network, {both, first, second}),
            (std::vector<Share>{{0.5, narrow}, {0.7, wide}, {0.5, narrow}}));
}

// A collective that puts half of its rate on the link: 0.5 x + y <= 10, all at one rate: 20 / 3.
TEST(MaxMin, WeightsCountOnTheLinkAndNotInTheRate) {
  LinkNetwork network;
  const LinkIndex nic = network.add_link("nic", BytesPerSecond(10));
  const RouteIndex half = route(network, 20, {{nic, 0.5}});
  const RouteIndex whole = route(network, 10, {{nic, 1}});
  const std::vector<Share> shares = solved(network, {half, whole});
  EXPECT_DOUBLE_EQ(shares[0].speed, 1.0 / 3);
  EXPECT_DOUBLE_EQ(shares[1].speed, 2.0 / 3);
}

TEST(MaxMin, NoFlowsNoShares) {
  const LinkNetwork network;
  EXPECT_EQ(solved(network, {}), std::vector<Share>{});
}

}  // namespace
}  // namespace stagewright
