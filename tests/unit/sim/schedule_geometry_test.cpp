#include "sim/cost/schedule_geometry.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "test_devices.h"

namespace stagewright {
namespace {

Cluster cluster_of(std::int32_t nodes, std::int32_t devices) {
  Cluster cluster;
  cluster.name = "round";
  cluster.types = {test::round_device()};
  for (std::int32_t n = 0; n < nodes; ++n) {
    cluster.nodes.push_back({"", std::vector<std::int32_t>(static_cast<std::size_t>(devices), 0)});
  }
  return cluster;
}

GroupGeometry geometry(std::int32_t members,
                       std::int32_t nodes,
                       std::int32_t members_per_node,
                       std::int32_t groups_per_node) {
  return {.members = members,
          .nodes = nodes,
          .members_per_node = members_per_node,
          .groups_per_node = groups_per_node,
          .intra_node = test::round_device().intra_node,
          .inter_node = test::round_device().inter_node};
}

std::vector<DeviceId> devices(const std::vector<std::int32_t>& numbers) {
  std::vector<DeviceId> ids;
  for (const std::int32_t number : numbers) {
    ids.emplace_back(number);
  }
  return ids;
}

TEST(Geometry, GroupInsideANodeSharesNoPorts) {
  const Cluster cluster = cluster_of(2, 4);
  const std::vector<std::vector<DeviceId>> all = {
      devices({0, 1}), devices({2, 3}), devices({4, 5}), devices({6, 7})};
  EXPECT_EQ(geometry_of(cluster, all[1], all), geometry(2, 1, 2, 1));
}

// Four groups, each with one device of either node: all four leave both nodes.
TEST(Geometry, GroupsAcrossNodesShareTheirPorts) {
  const Cluster cluster = cluster_of(2, 4);
  const std::vector<std::vector<DeviceId>> all = {
      devices({0, 4}), devices({1, 5}), devices({2, 6}), devices({3, 7})};
  EXPECT_EQ(geometry_of(cluster, all[2], all), geometry(2, 2, 1, 4));
}

// Of three concurrent groups one stays inside its node and one is elsewhere.
TEST(Geometry, OnlyGroupsThatLeaveANodeOfTheGroupCount) {
  const Cluster cluster = cluster_of(4, 4);
  const std::vector<std::vector<DeviceId>> all = {
      devices({0, 1, 4, 5}), devices({2, 3}), devices({8, 12})};
  EXPECT_EQ(geometry_of(cluster, all[0], all), geometry(4, 2, 2, 1));
}

TEST(Geometry, SlowestLinkOfTheNodesCounts) {
  Cluster cluster = cluster_of(2, 2);
  DeviceType slow = test::round_device();
  slow.inter_node.bandwidth = 1_GBps;
  slow.inter_node.name = "slow";
  cluster.types.push_back(slow);
  cluster.nodes[1].devices = {1, 1};
  const GroupGeometry mixed = geometry_of(cluster, devices({0, 2}), {});
  EXPECT_EQ(mixed.inter_node.name, "slow");
}

/// Two replicas of two stages with tensor degree 2 on two nodes of four: rank = 4 * stage + 2 *
/// replica + tensor.
Schedule grid() {
  Schedule schedule;
  schedule.programs.resize(2);
  for (std::int32_t stage = 0; stage < 2; ++stage) {
    for (std::int32_t i = 0; i < 2; ++i) {
      const std::int32_t base = 4 * stage;
      schedule.groups.push_back({"tensor", {RankId(base + 2 * i), RankId(base + 2 * i + 1)}});
      schedule.groups.push_back({"data", {RankId(base + i), RankId(base + i + 2)}});
    }
  }
  Group world{"world", {}};
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    RankBinding binding;
    binding.program = ProgramId(rank / 4);
    binding.device = DeviceId(rank);
    binding.peers = {RankId((rank + 4) % 8)};
    schedule.ranks.push_back(binding);
    world.members.emplace_back(rank);
  }
  schedule.groups.push_back(world);
  return schedule;
}

TEST(Geometry, OfAScheduleCountsGroupsOfAKindAndMessagesOfAProgram) {
  const Result<ScheduleGeometry> result = schedule_geometry(grid(), cluster_of(2, 4));
  ASSERT_TRUE(result);
  const auto of = [&](std::int32_t index) {
    return result->distinct[static_cast<std::size_t>(index)];
  };
  for (std::size_t group = 0; group < 8; ++group) {
    EXPECT_EQ(of(result->of_group[group]), geometry(2, 1, 2, 1)) << group;
  }
  EXPECT_EQ(of(result->of_group[8]), geometry(8, 2, 4, 1));
  // All four ranks of a stage send to the other node at once.
  for (std::size_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(of(result->of_peers[rank][0]), geometry(2, 2, 1, 4)) << rank;
  }
  EXPECT_EQ(result->distinct.size(), 3U);
}

// With the stages side by side in each node (the ranks' devices permuted), data groups cross.
TEST(Geometry, OfAScheduleFollowsThePlacement) {
  Schedule schedule = grid();
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    // Replica 0 on the first node, replica 1 on the second.
    const std::int32_t stage = rank / 4;
    const std::int32_t replica = rank % 4 / 2;
    schedule.ranks[static_cast<std::size_t>(rank)].device =
        DeviceId(4 * replica + 2 * stage + rank % 2);
  }
  const Result<ScheduleGeometry> result = schedule_geometry(schedule, cluster_of(2, 4));
  ASSERT_TRUE(result);
  const auto of = [&](std::int32_t index) {
    return result->distinct[static_cast<std::size_t>(index)];
  };
  EXPECT_EQ(of(result->of_group[0]), geometry(2, 1, 2, 1));     // tensor
  EXPECT_EQ(of(result->of_group[1]), geometry(2, 2, 1, 4));     // data
  EXPECT_EQ(of(result->of_peers[0][0]), geometry(2, 1, 2, 1));  // to the next stage
}

}  // namespace
}  // namespace stagewright
