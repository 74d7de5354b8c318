#include "study/proxy.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/model/transformer.h"
#include "planner/lower/lower.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

class ProxyOf : public testing::Test {
 protected:
  static PlanInputs large() {
    PlanInputs inputs;
    TransformerShape shape;
    shape.layers = 39;
    shape.hidden = 4096;
    shape.heads = 32;
    shape.kv_heads = 8;
    shape.head_dim = 128;
    shape.feed_forward = 11008;
    shape.vocabulary = 32000;
    shape.max_sequence = 4096;
    inputs.model = make_transformer("large", "llama", shape).value();
    inputs.cluster = gpu_cluster(16);
    inputs.plan = plan_of(inputs.model, {.dp = 4, .tp = 8, .pp = 4}, 64);
    inputs.plan.sequence = 4096;
    inputs.plan.micro_batch_size = 4;
    // Ten blocks on each but the last stage.
    inputs.plan.stages[0].layers = 11;
    inputs.plan.stages[1].layers = 10;
    inputs.plan.stages[2].layers = 10;
    inputs.plan.stages[3].layers = 10;
    for (std::size_t i = 1; i < 4; ++i) {
      inputs.plan.stages[i].first_layer =
          inputs.plan.stages[i - 1].first_layer + inputs.plan.stages[i - 1].layers;
    }
    return inputs;
  }
};

TEST_F(ProxyOf, ALargePlanKeepsItsPipeline) {
  const PlanInputs inputs = large();
  const auto proxy = make_proxy(DataFiles::embedded(), inputs);
  ASSERT_TRUE(proxy.has_value()) << proxy.error().to_string();
  const Plan& plan = proxy->inputs.plan;
  EXPECT_EQ(plan.pp(), 4);
  EXPECT_EQ(plan.schedule, inputs.plan.schedule);
  EXPECT_EQ(plan.uniform_dp(), 2);
  EXPECT_EQ(plan.uniform_tp(), 2);
  EXPECT_EQ(plan.devices(), 16);
  EXPECT_EQ(plan.micro_batches, 8);
  EXPECT_EQ(plan.sequence, 128);
  EXPECT_EQ(proxy->inputs.model.shape.hidden, 128);
  EXPECT_EQ(proxy->inputs.model.layers.size(), 6U);
  EXPECT_EQ(proxy->inputs.cluster.types.front().name, "cpu");
  EXPECT_NE(std::ranges::find(proxy->shrunk, "blocks 39 -> 4"), proxy->shrunk.end());
  EXPECT_TRUE(lower(proxy->inputs.model, proxy->inputs.cluster, plan).has_value());
}

TEST_F(ProxyOf, UnequalStagesKeepTheirRelation) {
  PlanInputs inputs = large();
  inputs.plan.stages[0].layers = 6;  // an embedding and 5 blocks, and 15, 10 and 9
  inputs.plan.stages[1].layers = 15;
  inputs.plan.stages[1].first_layer = 6;
  inputs.plan.stages[2].first_layer = 21;
  const auto proxy = make_proxy(DataFiles::embedded(), inputs);
  ASSERT_TRUE(proxy.has_value()) << proxy.error().to_string();
  std::vector<std::int32_t> layers;
  for (const StagePlan& stage : proxy->inputs.plan.stages) {
    layers.push_back(stage.layers);
  }
  EXPECT_EQ(layers, (std::vector<std::int32_t>{2, 3, 2, 3}));
}

TEST_F(ProxyOf, APlanOfManyPipelineRanksHasNoOthers) {
  PlanInputs inputs = large();
  inputs.plan = plan_of(inputs.model, {.dp = 2, .tp = 2, .pp = 32}, 128);
  inputs.plan.sequence = 4096;
  const auto proxy = make_proxy(DataFiles::embedded(), inputs);
  ASSERT_TRUE(proxy.has_value()) << proxy.error().to_string();
  EXPECT_EQ(proxy->inputs.plan.devices(), 32);
}

TEST_F(ProxyOf, ASmallPlanChangesNothingButThePlace) {
  PlanInputs inputs;
  inputs.model = tiny_gpt(2);
  inputs.cluster = cpu_cluster(2);
  inputs.plan = plan_of(inputs.model, {.pp = 2}, 4);
  const auto proxy = make_proxy(DataFiles::embedded(), inputs);
  ASSERT_TRUE(proxy.has_value()) << proxy.error().to_string();
  EXPECT_TRUE(proxy->shrunk.empty()) << proxy->shrunk.front();
  const auto one = one_rank_of(DataFiles::embedded(), proxy->inputs);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->plan.devices(), 1);
  EXPECT_EQ(one->plan.global_batch(), inputs.plan.global_batch());
}

}  // namespace
}  // namespace stagewright
