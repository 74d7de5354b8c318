#include "planner/axes/pipeline.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

PipelineOrder order_with(std::vector<std::int32_t> placement, std::size_t ranks) {
  PipelineOrder order;
  order.stages = static_cast<std::int32_t>(placement.size());
  order.placement = {std::move(placement)};
  order.ranks.resize(ranks);
  return order;
}

TEST(PipelineAxis, AChainHasItsNeighboursAsPeers) {
  const auto axes = pipeline_axes(order_with({0, 1, 2}, 3));
  EXPECT_EQ(axes,
            (std::vector<PipelineAxis>{{.rank = 0, .stages = {StageId(0)}, .peers = {1}},
                                       {.rank = 1, .stages = {StageId(1)}, .peers = {0, 2}},
                                       {.rank = 2, .stages = {StageId(2)}, .peers = {1}}}));
  EXPECT_EQ(axes[1].slot_of(2), PeerSlot(1));
}

TEST(PipelineAxis, ALoopOfVirtualStagesWrapsAround) {
  const auto axes = pipeline_axes(order_with({0, 1, 2, 0, 1, 2}, 3));
  EXPECT_EQ(axes[0].stages, (std::vector<StageId>{StageId(0), StageId(3)}));
  EXPECT_EQ(axes[0].peers, (std::vector<std::int32_t>{1, 2}));
}

TEST(PipelineAxis, TheTurnOfAVIsLocal) {
  const auto axes = pipeline_axes(order_with({0, 1, 1, 0}, 2));
  EXPECT_EQ(axes[1].stages, (std::vector<StageId>{StageId(1), StageId(2)}));
  EXPECT_EQ(axes[1].peers, (std::vector<std::int32_t>{0}));
  EXPECT_EQ(axes[0].peers, (std::vector<std::int32_t>{1}));
  EXPECT_TRUE(axes[1].hands_over(StageId(1)));
  EXPECT_FALSE(axes[0].hands_over(StageId(0)));
}

// Stages 1 and 2 lie on rank 1, but belong to different copies: both talk to rank 2.
TEST(PipelineAxis, TwoCopiesMeetOnEachRankWithoutHandingOver) {
  PipelineOrder order = order_with({0, 1, 2, 3}, 4);
  order.placement.push_back({3, 2, 1, 0});
  order.micro_batches = 2;
  order.copy_of = {0, 1};
  const auto axes = pipeline_axes(order);
  EXPECT_EQ(axes[1],
            (PipelineAxis{.rank = 1, .stages = {StageId(1), StageId(2)}, .peers = {0, 2}}));
  EXPECT_EQ(axes[0].peers, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(pipeline_rank_of(order, StageId(1), MicroBatchId(0)), 1);
  EXPECT_EQ(pipeline_rank_of(order, StageId(1), MicroBatchId(1)), 2);
}

}  // namespace
}  // namespace stagewright
