#include "core/plan/plan.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

Plan plan_of(std::int32_t layers, std::int32_t stages, std::int32_t dp, std::int32_t tp) {
  Plan plan;
  plan.stages = even_stages(layers, stages, dp, tp);
  plan.micro_batches = 8;
  plan.micro_batch_size = 2;
  return plan;
}

TEST(Plan, EvenStagesHoldEachLayerOnceAndDifferByAtMostOne) {
  for (std::int32_t layers = 1; layers <= 20; ++layers) {
    for (std::int32_t stages = 1; stages <= layers; ++stages) {
      const auto result = even_stages(layers, stages, 1, 1);
      ASSERT_EQ(result.size(), static_cast<std::size_t>(stages));
      std::int32_t next = 0;
      for (const StagePlan& stage : result) {
        EXPECT_EQ(stage.first_layer, next);
        EXPECT_GE(stage.layers, layers / stages);
        EXPECT_LE(stage.layers, (layers + stages - 1) / stages);
        next += stage.layers;
      }
      EXPECT_EQ(next, layers);
    }
  }
  EXPECT_EQ(even_stages(7, 2, 4, 8),
            (std::vector<StagePlan>{{0, 4, 4, 8, Recompute::kNone, {}, {}},
                                    {4, 3, 4, 8, Recompute::kNone, {}, {}}}));
}

TEST(Plan, CountsDevicesOverTheRanksOfThePipeline) {
  Plan plan = plan_of(8, 4, 2, 8);
  EXPECT_EQ(plan.devices(), 64);
  plan.virtual_stages = 2;
  EXPECT_EQ(plan.pp(), 2);
  EXPECT_EQ(plan.devices(), 32);
  plan.cp = 2;
  EXPECT_EQ(plan.devices(), 64);
}

TEST(Plan, TheGlobalBatchIsReplicasTimesMicroBatches) {
  EXPECT_EQ(plan_of(8, 4, 16, 1).global_batch(), 16 * 2 * 8);
}

TEST(Plan, UnequalDegreesAreNotUniform) {
  Plan plan = plan_of(4, 2, 2, 4);
  EXPECT_EQ(plan.uniform_tp(), 4);
  plan.stages[1].tp = 2;
  EXPECT_EQ(plan.uniform_tp(), std::nullopt);
  EXPECT_EQ(plan.uniform_dp(), 2);
}

TEST(Plan, TheSummaryIsOneLine) {
  Plan plan = plan_of(8, 4, 16, 8);
  plan.micro_batch_size = 1;
  plan.micro_batches = 64;
  for (StagePlan& stage : plan.stages) {
    stage.recompute = Recompute::kFull;
  }
  EXPECT_EQ(summary(plan), "tp8 pp4 dp16, 64 x 1 micro-batches, 1f1b, recompute full");
  plan.virtual_stages = 2;
  plan.stages[0].tp = 4;
  plan.stages[0].recompute = Recompute::kNone;
  plan.zero_stage = 1;
  plan.sequence_parallel = true;
  EXPECT_EQ(summary(plan),
            "tp4/8/8/8 pp2 v2 dp16, 64 x 1 micro-batches, 1f1b, recompute mixed, zero 1, sequence "
            "parallel");
}

}  // namespace
}  // namespace stagewright
