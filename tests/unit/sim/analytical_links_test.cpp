#include "sim/cost/analytical_links.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using namespace std::chrono_literals;

constexpr Bytes kSize{800'000'000};

/// 100 GB/s and 1 us inside, 10 GB/s and 10 us a port outside.
GroupGeometry group(std::int32_t nodes, std::int32_t members_per_node) {
  GroupGeometry geometry;
  geometry.members = nodes * members_per_node;
  geometry.nodes = nodes;
  geometry.members_per_node = members_per_node;
  geometry.intra_node = {.name = "inside", .bandwidth = 100_GBps, .latency = 1us};
  geometry.inter_node = {.name = "outside", .bandwidth = 10_GBps, .latency = 10us};
  return geometry;
}

// Ring of 8 in a node: 2 * 7/8 * 0.8 GB / 100 GB/s = 14 ms, and 14 links of 1 us.
TEST(AnalyticalLinks, AllReduceInANode) {
  EXPECT_EQ(collective_time(OpKind::kAllReduce, kSize, group(1, 8)), Duration(14ms + 14us));
}

// Half of an all-reduce each.
TEST(AnalyticalLinks, AllGatherAndReduceScatterInANode) {
  EXPECT_EQ(collective_time(OpKind::kAllGather, kSize, group(1, 8)), Duration(7ms + 7us));
  EXPECT_EQ(collective_time(OpKind::kReduceScatter, kSize, group(1, 8)), Duration(7ms + 7us));
}

// Each sends 0.8 GB to the next one at 100 GB/s; over nodes one of each sends it at 10 GB/s, or at
// a quarter of that where four such groups share the port.
TEST(AnalyticalLinks, RingShift) {
  EXPECT_EQ(collective_time(OpKind::kRingShift, kSize, group(1, 8)), Duration(8ms + 1us));
  EXPECT_EQ(collective_time(OpKind::kRingShift, kSize, group(4, 2)), Duration(80ms + 10us));
  GroupGeometry geometry = group(4, 2);
  geometry.groups_per_node = 4;
  geometry.inter_node.devices_per_port = 8;
  EXPECT_EQ(collective_time(OpKind::kRingShift, kSize, geometry), Duration(320ms + 10us));
}

TEST(AnalyticalLinks, AGroupOfOneHasNothingToDo) {
  for (const OpKind kind : {OpKind::kAllReduce,
                            OpKind::kAllGather,
                            OpKind::kBroadcast,
                            OpKind::kRingShift,
                            OpKind::kAllToAll}) {
    EXPECT_EQ(collective_time(kind, kSize, group(1, 1)), Duration(0));
  }
}

// 4 nodes with one member each use one port of 10 GB/s: 2 * 3/4 * 0.8 GB / 10 GB/s = 120 ms.
// Latency: a tree of two levels, up and down, 4 * 10 us, before a ring's 6 * 10 us.
TEST(AnalyticalLinks, OneMemberPerNodeUsesOnePort) {
  EXPECT_EQ(collective_time(OpKind::kAllReduce, kSize, group(4, 1)), Duration(120ms + 40us));
}

// 4 nodes with 8 members each use 8 ports, 80 GB/s, below the 100 GB/s inside:
// 2 * 31/32 * 0.8 GB / 80 GB/s = 19.375 ms; tree: 2 * (7 * 1 us + 2 * 10 us).
TEST(AnalyticalLinks, MembersOfANodeUseTheirPortsTogether) {
  EXPECT_EQ(collective_time(OpKind::kAllReduce, kSize, group(4, 8)), Duration(19'375us + 54us));
}

// 8 groups of one member per node.  With a port per device they do not meet; with one port for the
// 8 devices of a node each gets an eighth; with a port for two devices a half.
TEST(AnalyticalLinks, GroupsOfANodeShareItsPorts) {
  GroupGeometry geometry = group(4, 1);
  geometry.groups_per_node = 8;
  EXPECT_DOUBLE_EQ(inter_node_rate(geometry).count(), 10e9);
  geometry.inter_node.devices_per_port = 8;
  EXPECT_DOUBLE_EQ(inter_node_rate(geometry).count(), 10e9 / 8);
  EXPECT_EQ(collective_time(OpKind::kAllReduce, kSize, geometry), Duration(8 * 120ms + 40us));
  geometry.inter_node.devices_per_port = 2;
  EXPECT_DOUBLE_EQ(inter_node_rate(geometry).count(), 10e9 / 2);
}

// One group alone on a node with one port for 8 devices has the port to itself, whether one of its
// members is there or all eight.
TEST(AnalyticalLinks, AGroupAloneHasThePortToItself) {
  for (const std::int32_t members : {1, 8}) {
    GroupGeometry geometry = group(4, members);
    geometry.inter_node.devices_per_port = 8;
    EXPECT_DOUBLE_EQ(inter_node_rate(geometry).count(), 10e9);
  }
}

// 16 members on 2 nodes, a sixteenth (50 MB) for each: 7 inside at 100 GB/s take 3.5 ms, 8 outside
// over the member's own port of 10 GB/s take 40 ms.
TEST(AnalyticalLinks, AllToAllIsBoundByTheWayOut) {
  EXPECT_EQ(collective_time(OpKind::kAllToAll, kSize, group(2, 8)), Duration(40ms + 10us));
  EXPECT_EQ(collective_time(OpKind::kAllToAll, kSize, group(1, 8)), Duration(7ms + 1us));
}

TEST(AnalyticalLinks, TransferIsLatencyAndSizeOverRate) {
  EXPECT_EQ(transfer_time(kSize, group(1, 2)), Duration(8ms + 1us));
  EXPECT_EQ(transfer_time(kSize, group(2, 1)), Duration(80ms + 10us));
  EXPECT_EQ(transfer_time(Bytes(0), group(2, 1)), Duration(10us));
}

// Eight pairs of neighbours send from one node through two ports.
TEST(AnalyticalLinks, TransfersOfANodeShareItsPorts) {
  GroupGeometry geometry = group(2, 1);
  geometry.groups_per_node = 8;
  geometry.inter_node.devices_per_port = 4;
  EXPECT_EQ(transfer_time(kSize, geometry), Duration(320ms + 10us));
}

TEST(AnalyticalLinks, EfficiencyOfTheLinkCounts) {
  GroupGeometry geometry = group(1, 2);
  geometry.intra_node.efficiency = 0.8;
  EXPECT_EQ(transfer_time(kSize, geometry), Duration(10ms + 1us));
}

}  // namespace
}  // namespace stagewright
