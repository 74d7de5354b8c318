#include "planner/lower/check_plan.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

/// What check_plan says about a plan for a GPT of two blocks on 4 devices after a change.
std::string message_after(const std::function<void(Plan&)>& change) {
  const ModelGraph model = tiny_gpt(2);
  Plan plan = plan_of(model, {.dp = 1, .tp = 2, .pp = 2}, 4);
  change(plan);
  const Result<void> checked = check_plan(model, cpu_cluster(4), plan);
  return checked ? "" : checked.error().to_string();
}

TEST(CheckPlan, AcceptsAPlanThatFits) {
  EXPECT_EQ(message_after([](Plan&) {}), "");
}

TEST(CheckPlan, NamesSizesThatAreNotPositive) {
  EXPECT_EQ(message_after([](Plan& plan) { plan.sequence = 0; }),
            "plan:/sequence: sequence is 0; it must be at least 1");
  EXPECT_EQ(message_after([](Plan& plan) { plan.micro_batch_size = -1; }),
            "plan:/micro_batch_size: micro_batch_size is -1; it must be at least 1");
  EXPECT_EQ(message_after([](Plan& plan) { plan.micro_batches = 0; }),
            "plan:/micro_batches: micro_batches is 0; it must be at least 1");
  EXPECT_EQ(message_after([](Plan& plan) { plan.virtual_stages = 0; }),
            "plan:/virtual_stages: virtual_stages is 0; it must be at least 1");
  EXPECT_EQ(message_after([](Plan& plan) { plan.flushes = 0; }),
            "plan:/flushes: flushes is 0; it must be at least 1");
  EXPECT_EQ(message_after([](Plan& plan) { plan.bucket_size = Bytes(0); }),
            "plan:/bucket_size: bucket_size is 0; it must be at least 1");
  EXPECT_EQ(message_after([](Plan& plan) { plan.stages[1].dp = 0; }),
            "plan:/stages/1/dp: dp is 0; it must be at least 1");
  EXPECT_EQ(message_after([](Plan& plan) { plan.stages[0].layers = 0; }),
            "plan:/stages/0/layers: layers is 0; it must be at least 1");
}

TEST(CheckPlan, NamesWhatDoesNotDivide) {
  EXPECT_EQ(message_after([](Plan& plan) { plan.flushes = 3; }),
            "plan:/flushes: 4 micro_batches cannot be divided into 3 flushes of equal size");
  EXPECT_EQ(
      message_after([](Plan& plan) { plan.virtual_stages = 4; }),
      "plan:/virtual_stages: 2 stages cannot be divided among ranks with 4 virtual stages each");
  EXPECT_EQ(message_after([](Plan& plan) {
              plan.stages[0].tp = 3;
              plan.stages[1].tp = 3;
            }),
            "plan:/stages/0/tp: tp is 3, which does not divide the 4 heads of tiny-gpt; tp can be "
            "1, 2, 4");
  EXPECT_EQ(message_after([](Plan& plan) {
              plan.sequence_parallel = true;
              plan.sequence = 7;
            }),
            "plan:/sequence_parallel: sequence_parallel is true, but tp 2 does not divide the 7 "
            "tokens of a micro-batch (1 x 7); use false, or a sequence that tp divides");
}

TEST(CheckPlan, RefusesAPlanMadeForAnotherModel) {
  const ModelGraph model = tiny_gpt(2);
  Plan plan = plan_of(model, {}, 1);
  plan.model_hash = model_hash(model);
  EXPECT_TRUE(check_plan(model, cpu_cluster(1), plan));
  const ModelGraph other = tiny_llama(2);
  const Result<void> checked = check_plan(other, cpu_cluster(1), plan);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().to_string(),
            "plan:/model_hash: the plan was made for model 'tiny-gpt' with hash " +
                model_hash(model) + ", but 'tiny-llama' has hash " + model_hash(other) +
                "; plan again for this model");
}

TEST(CheckPlan, RefusesModelsThatAreNoChain) {
  ModelGraph model = tiny_gpt(2);
  model.edges.emplace_back(LayerId(0), LayerId(3));
  const Result<void> checked = check_plan(model, cpu_cluster(1), plan_of(model, {}, 1));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error(),
            (Error{ErrorCode::kUnsupported,
                   "the layers of 'tiny-gpt' do not form a chain; only chains can be lowered",
                   "plan:/model"}));
}

TEST(CheckPlan, RefusesSequencesBeyondTheLearnedPositions) {
  EXPECT_EQ(message_after([](Plan& plan) { plan.sequence = 9; }),
            "plan:/sequence: sequence is 9, but 'tiny-gpt' has learned positions for 8 tokens");
}

TEST(CheckPlan, RefusesStagesThatLoseOrDoubleLayers) {
  EXPECT_EQ(message_after([](Plan& plan) { plan.stages.clear(); }),
            "plan:/stages: the plan has no stages");
  EXPECT_EQ(
      message_after([](Plan& plan) { plan.stages[1].first_layer = 1; }),
      "plan:/stages/1/first_layer: first_layer is 1, but the stages before it end at layer 2; "
      "each layer belongs to exactly one stage, in order");
  EXPECT_EQ(
      message_after([](Plan& plan) { plan.stages[1].layers = 1; }),
      "plan:/stages: the stages hold 3 layers, but 'tiny-gpt' has 4 (embedding and head among "
      "them)");
  EXPECT_EQ(message_after([](Plan& plan) { plan.stages.resize(6); }),
            "plan:/stages: 6 stages, but 'tiny-gpt' has 4 layers (embedding and head among them); "
            "use fewer pipeline or virtual stages");
  EXPECT_EQ(message_after([](Plan& plan) { plan.stages[1].recompute_layers = 3; }),
            "plan:/stages/1/recompute_layers: recompute_layers is 3; the stage has 2 layers");
}

TEST(CheckPlan, NamesWhatCannotBeLoweredYet) {
  EXPECT_EQ(message_after([](Plan& plan) { plan.ep = 2; }),
            "plan:/ep: ep is 2, but 'tiny-gpt' has no experts; use 1");
  EXPECT_EQ(message_after([](Plan& plan) { plan.zero_stage = 4; }),
            "plan:/zero_stage: zero_stage is 4; it is 0, 1, 2 or 3");
  EXPECT_EQ(message_after([](Plan& plan) { plan.stages[1].dp = 2; }),
            "plan:/stages/1/dp: dp is 2 here and 1 in stage 0; stages of different dp cannot be "
            "lowered yet, give all the same");
  EXPECT_EQ(message_after([](Plan& plan) { plan.stages[1].tp = 1; }),
            "plan:/stages/1/tp: tp is 1 here and 2 in stage 0; stages of different tp cannot be "
            "lowered yet, give all the same");
}

TEST(CheckPlan, NamesPrecisionsThatCannotBeLoweredYet) {
  EXPECT_EQ(message_after([](Plan& plan) { plan.precision.compute = DType::kInt32; }),
            "plan:/precision/compute: compute is int32; use fp32, tf32, bf16, fp16 or fp8");
  EXPECT_EQ(message_after([](Plan& plan) { plan.precision.gradient = DType::kInt32; }),
            "plan:/precision/gradient: gradient is int32; use fp32, bf16 or fp16");
  EXPECT_EQ(message_after([](Plan& plan) { plan.precision.transfer = DType::kFloat8; }),
            "plan:/precision/transfer: transfer is fp8 and compute fp32; messages have the type in "
            "which they are computed, or bf16 or fp16 where that is fp32 or tf32");
}

TEST(CheckPlan, NamesSequencesThatDoNotDivide) {
  EXPECT_EQ(
      message_after([](Plan& plan) { plan.cp = 3; }),
      "plan:/cp: cp is 3, and each member has two blocks of a sequence, but 6 does not divide "
      "its 8 tokens; use another cp or sequence");
}

TEST(CheckPlan, CountsTheDevicesThatDivideSequences) {
  EXPECT_EQ(
      message_after([](Plan& plan) { plan.cp = 2; }),
      "plan:/stages: dp 1 x tp 2 x cp 2 x pp 2 needs 8 devices, but cluster '1x4xcpu' has 4; lower "
      "a degree, or list the devices of each stage to put several ranks on one");
  EXPECT_EQ(message_after([](Plan& plan) {
              plan.cp = 2;
              plan.stages[0].devices = {0, 1};
            }),
            "plan:/stages/0/devices: 2 devices are listed; dp 1 x tp 2 x cp 2 needs 4");
}

TEST(CheckPlan, NamesDevicesThatDoNotFit) {
  EXPECT_EQ(
      message_after([](Plan& plan) {
        plan.stages[0].dp = 2;
        plan.stages[1].dp = 2;
      }),
      "plan:/stages: dp 2 x tp 2 x pp 2 needs 8 devices, but cluster '1x4xcpu' has 4; lower a "
      "degree, or list the devices of each stage to put several ranks on one");
  EXPECT_EQ(message_after([](Plan& plan) { plan.stages[0].devices = {0}; }),
            "plan:/stages/0/devices: 1 devices are listed; dp 1 x tp 2 needs 2");
  EXPECT_EQ(message_after([](Plan& plan) {
              plan.stages[0].devices = {0, 4};
            }),
            "plan:/stages/0/devices: device 4 is not in the cluster, which has devices 0 to 3");
  EXPECT_EQ(message_after([](Plan& plan) {
              plan.rank_order = {"tp", "dp", "pp"};
            }),
            "plan:/rank_order: rank_order is [tp, dp, pp]; it must list each of tp, cp, dp and pp "
            "once, the fastest first");
}

TEST(CheckPlan, AllowsSeveralRanksOnOneDeviceWhereTheyAreListed) {
  EXPECT_EQ(message_after([](Plan& plan) {
              plan.stages[0].devices = {0, 0};
              plan.stages[1].devices = {1, 1};
            }),
            "");
}

}  // namespace
}  // namespace stagewright
