#include "planner/lower/rank_grid.h"

#include <gtest/gtest.h>

#include "planner/lower/rank_groups.h"
#include "planner/schedules/pipeline_order.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

Result<RankGrid> place(const Plan& plan) {
  return place_ranks(plan, pipeline_order(plan).value());
}

TEST(RankGrid, TensorIndexIsFastestByDefault) {
  const RankGrid grid = place(plan_of(tiny_gpt(2), {.dp = 2, .tp = 2, .pp = 2}, 2)).value();
  EXPECT_EQ(grid.stride, (RankCoordinates{.tensor = 1, .context = 2, .data = 2, .pipeline = 4}));
  EXPECT_EQ(grid.rank({.tensor = 1, .data = 0, .pipeline = 1}), RankId(5));
  EXPECT_EQ(grid.coordinates(RankId(6)), (RankCoordinates{.tensor = 0, .data = 1, .pipeline = 1}));
  EXPECT_EQ(grid.devices[6], DeviceId(6));
}

TEST(RankGrid, RankOrderDecidesWhoIsNeighbour) {
  Plan plan = plan_of(tiny_gpt(2), {.dp = 2, .tp = 2, .pp = 2}, 2);
  plan.rank_order = {"pp", "tp", "cp", "dp"};
  const RankGrid grid = place(plan).value();
  EXPECT_EQ(grid.stride, (RankCoordinates{.tensor = 2, .context = 4, .data = 4, .pipeline = 1}));
}

TEST(RankGrid, PartsOfSequencesStandBetweenTensorAndDataIndex) {
  Plan plan = plan_of(tiny_gpt(2), {.dp = 2, .tp = 2, .pp = 1}, 2);
  plan.cp = 2;
  plan.stages[0].devices = {7, 6, 5, 4, 3, 2, 1, 0};
  const RankGrid grid = place(plan).value();
  EXPECT_EQ(grid.ranks(), 8);
  EXPECT_EQ(grid.stride, (RankCoordinates{.tensor = 1, .context = 2, .data = 4, .pipeline = 8}));
  EXPECT_EQ(grid.coordinates(RankId(6)), (RankCoordinates{.tensor = 0, .context = 1, .data = 1}));
  EXPECT_EQ(grid.devices[6], DeviceId(1));
}

TEST(RankGrid, AStageMayListItsDevices) {
  Plan plan = plan_of(tiny_gpt(2), {.dp = 2, .tp = 1, .pp = 2}, 2);
  plan.stages[1].devices = {7, 5};
  const RankGrid grid = place(plan).value();
  EXPECT_EQ(grid.devices,
            (std::vector<DeviceId>{DeviceId(0), DeviceId(1), DeviceId(7), DeviceId(5)}));
}

TEST(RankGrid, StagesOfOneRankCannotListDifferentDevices) {
  Plan plan = plan_of(tiny_gpt(2), {.dp = 1, .tp = 1, .pp = 2}, 2);
  plan.stages[0].devices = {0};
  plan.stages[1].devices = {1};
  PipelineOrder order = pipeline_order(plan).value();
  order.placement = {{0, 0}};
  const Result<RankGrid> grid = place_ranks(plan, order);
  ASSERT_FALSE(grid);
  EXPECT_EQ(
      grid.error().to_string(),
      "plan:/stages/1/devices: stages 0 and 1 run on the same ranks under schedule '1f1b' but "
      "list different devices; give both the same list");
}

std::vector<std::string> groups_as_text(const RankGroups& groups) {
  std::vector<std::string> texts;
  for (const Group& group : groups.groups) {
    std::string text = group.kind;
    for (const RankId member : group.members) {
      text += " " + std::to_string(member.value());
    }
    texts.push_back(text);
  }
  return texts;
}

// Gradients are summed over all parts of all replicas.
TEST(RankGroups, PartsOfSequencesHaveGroupsAndJoinThoseOfTheData) {
  Plan plan = plan_of(tiny_gpt(2), {.dp = 2, .tp = 2, .pp = 1}, 2);
  plan.cp = 2;
  const RankGroups groups = build_groups(place(plan).value(), 1, {});
  EXPECT_EQ(groups_as_text(groups),
            (std::vector<std::string>{"world 0 1 2 3 4 5 6 7",
                                      "tensor 0 1",
                                      "tensor 2 3",
                                      "tensor 4 5",
                                      "tensor 6 7",
                                      "context 0 2",
                                      "context 1 3",
                                      "context 4 6",
                                      "context 5 7",
                                      "data 0 2 4 6",
                                      "data 1 3 5 7"}));
}

// Neighbours among the ranks that sum gradients divide the experts; the others have the same ones.
TEST(RankGroups, ExpertsAreDividedAmongNeighboursOfTheData) {
  const RankGrid grid = place(plan_of(tiny_gpt(2), {.dp = 4, .tp = 2, .pp = 1}, 2)).value();
  const RankGroups groups = build_groups(grid, 2, {});
  EXPECT_EQ(groups_as_text(groups),
            (std::vector<std::string>{"world 0 1 2 3 4 5 6 7",
                                      "tensor 0 1",
                                      "tensor 2 3",
                                      "tensor 4 5",
                                      "tensor 6 7",
                                      "data 0 2 4 6",
                                      "data 1 3 5 7",
                                      "expert 0 2",
                                      "expert 1 3",
                                      "expert 4 6",
                                      "expert 5 7",
                                      "expert-data 0 4",
                                      "expert-data 1 5",
                                      "expert-data 2 6",
                                      "expert-data 3 7"}));
  EXPECT_EQ(build_groups(grid, 4, {}).slots.expert_replicas, std::nullopt);
}

TEST(RankGroups, OneGroupPerAxisAndPlace) {
  const RankGrid grid = place(plan_of(tiny_gpt(2), {.dp = 2, .tp = 2, .pp = 2}, 2)).value();
  const RankGroups groups = build_groups(grid, 1, {{.kind = "tie", .pipeline_ranks = {0, 1}}});
  EXPECT_EQ(groups_as_text(groups),
            (std::vector<std::string>{"world 0 1 2 3 4 5 6 7",
                                      "tensor 0 1",
                                      "tensor 2 3",
                                      "tensor 4 5",
                                      "tensor 6 7",
                                      "data 0 2",
                                      "data 1 3",
                                      "data 4 6",
                                      "data 5 7",
                                      "tie 0 4",
                                      "tie 1 5",
                                      "tie 2 6",
                                      "tie 3 7"}));
  EXPECT_EQ(groups.slots,
            (GroupSlots{.world = GroupSlot(0),
                        .tensor = GroupSlot(1),
                        .data = GroupSlot(2),
                        .expert_replicas = GroupSlot(2),
                        .sharing = {{GroupSlot(3)}, {GroupSlot(3)}}}));
  EXPECT_EQ(groups.of_rank[6],
            (std::vector<GroupId>{GroupId(0), GroupId(4), GroupId(7), GroupId(11)}));
  EXPECT_EQ(groups.position_of[6], (std::vector<std::int32_t>{6, 0, 1, 1}));
}

TEST(RankGroups, ARankHasSlotsForTheSharingsItIsIn) {
  const RankGrid grid = place(plan_of(tiny_gpt(2), {.pp = 4}, 2)).value();
  const RankGroups groups = build_groups(grid,
                                         1,
                                         {{.kind = "copies", .pipeline_ranks = {0, 3}},
                                          {.kind = "copies", .pipeline_ranks = {1, 2}},
                                          {.kind = "tie", .pipeline_ranks = {2, 3}}});
  EXPECT_EQ(groups.slots.sharing,
            (std::vector<std::vector<std::optional<GroupSlot>>>{
                {GroupSlot(1), std::nullopt, std::nullopt},
                {std::nullopt, GroupSlot(1), std::nullopt},
                {std::nullopt, GroupSlot(1), GroupSlot(2)},
                {GroupSlot(1), std::nullopt, GroupSlot(2)}}));
}

TEST(RankGroups, ASingleRankHasOnlyTheWorld) {
  const RankGrid grid = place(plan_of(tiny_gpt(2), {}, 2)).value();
  EXPECT_EQ(groups_as_text(build_groups(grid, 1, {})), (std::vector<std::string>{"world 0"}));
}

}  // namespace
}  // namespace stagewright
