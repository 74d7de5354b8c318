#include "sim/engine/like_ranks.h"

#include <vector>

#include <gtest/gtest.h>

#include "test_devices.h"
#include "tests/support/toy_schedule.h"

namespace stagewright {
namespace {

/// A node for each list, of devices of these types.
Cluster cluster_of(const std::vector<std::vector<std::int32_t>>& nodes) {
  Cluster cluster;
  cluster.types = {test::round_device(), test::round_device()};
  cluster.types[1].name = "other";
  for (const std::vector<std::int32_t>& devices : nodes) {
    cluster.nodes.push_back({"", devices});
  }
  return cluster;
}

RankClasses classes_of(const Schedule& schedule, const Cluster& cluster) {
  const Result<ScheduleGeometry> geometry = schedule_geometry(schedule, cluster);
  EXPECT_TRUE(geometry);
  return like_ranks(schedule, cluster, *geometry);
}

/// Two stages, two replicas: ranks 0 and 1, 2 and 3.
Schedule two_by_two() {
  return toy_schedule({"0F0 0SEND_F0 0RECV_B0 0B0 REDUCE0", "1RECV_F0 1F0 1B0 1SEND_B0 REDUCE0"},
                      {.replicas = 2});
}

TEST(LikeRanks, ReplicasOnLikeDevicesAreOneClass) {
  const RankClasses classes = classes_of(two_by_two(), cluster_of({{0, 0, 0, 0}}));
  EXPECT_EQ(classes.class_of_rank, (std::vector<std::size_t>{0, 1, 0, 1}));
  EXPECT_TRUE(in_step(classes, 0, GroupSlot(0)));
}

// Rank 3 computes on another device: its peer, rank 2, sees that, and so do the other replicas.
TEST(LikeRanks, AnotherDeviceTellsEverybodyApartWhoSeesIt) {
  const RankClasses classes = classes_of(two_by_two(), cluster_of({{0, 0, 0, 1}}));
  EXPECT_EQ(classes.class_of_rank, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_FALSE(in_step(classes, 0, GroupSlot(0)));
}

TEST(LikeRanks, LinksOfAnotherKindTellRanksApart) {
  EXPECT_EQ(classes_of(two_by_two(), cluster_of({{0, 0}, {0, 0}})).lowest.size(), 2U);
  EXPECT_EQ(classes_of(two_by_two(), cluster_of({{0, 0, 0}, {0}})).lowest.size(), 4U);
}

TEST(LikeRanks, UnlikeRanksAreAllAlone) {
  const RankClasses classes = unlike_ranks(two_by_two());
  EXPECT_EQ(classes.class_of_rank, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_FALSE(in_step(classes, 0, GroupSlot(0)));
}

TEST(LikeRanks, RankAloneInItsGroupIsInStep) {
  const Schedule schedule = toy_schedule({"0F0 0B0 REDUCE0"});
  EXPECT_TRUE(in_step(unlike_ranks(schedule), 0, GroupSlot(0)));
}

}  // namespace
}  // namespace stagewright
