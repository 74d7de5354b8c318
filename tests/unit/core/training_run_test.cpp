#include "core/training/training_run.h"

#include <string>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

/// 32 layers of 4096 on 2 x 4 x 2 devices.
TrainingRun sound() {
  TrainingRun run;
  run.shape.layers = 32;
  run.shape.hidden = 4096;
  run.shape.heads = 32;
  run.shape.kv_heads = 8;
  run.shape.head_dim = 128;
  run.shape.feed_forward = 14336;
  run.shape.vocabulary = 128256;
  run.sequence = 8192;
  run.dp = 2;
  run.tp = 4;
  run.pp = 2;
  run.micro_batches = 8;
  return run;
}

/// The field that check() names, or nothing.
std::string named(const TrainingRun& run) {
  const auto checked = check(run);
  return checked ? std::string() : checked.error().where;
}

TEST(TrainingRun, IsSound) {
  EXPECT_EQ(named(sound()), "");
}

TEST(TrainingRun, VirtualStagesDivideTheLayersOrThoseWithBothEnds) {
  TrainingRun run = sound();
  run.virtual_stages = 4;
  EXPECT_EQ(named(run), "");
  run.virtual_stages = 5;
  EXPECT_EQ(named(run), "plan.vpp");
  // 126 layers and two ends are 128 (Llama 3 405B).
  run.shape.layers = 126;
  run.pp = 8;
  run.virtual_stages = 8;
  EXPECT_EQ(named(run), "");
  // 61 layers, two ends and a layer for one more token are 64 (DeepSeek-V3).
  run.shape.layers = 61;
  EXPECT_EQ(named(run), "plan.vpp");
  run.latent_attention = true;
  EXPECT_EQ(named(run), "");
}

TEST(TrainingRun, AStageHasALayer) {
  TrainingRun run = sound();
  run.shape.layers = 3;
  run.pp = 4;
  EXPECT_EQ(named(run), "plan.pp");
  run.rank_layers = {0, 2, 1, 0};  // a plan that gives the ends stages of their own
  EXPECT_EQ(named(run), "");
  run = sound();
  run.first_stage_layers = 30;
  run.last_stage_layers = 3;
  EXPECT_EQ(named(run), "plan.layers_first_stage");
}

TEST(TrainingRun, ExpertParallelismNeedsExpertsAndRanks) {
  TrainingRun run = sound();
  run.ep = 2;
  EXPECT_EQ(named(run), "plan.ep");
  run.experts = ExpertShape{.experts = 8, .per_token = 2, .feed_forward = 14336};
  EXPECT_EQ(named(run), "");
  run.ep = 3;
  EXPECT_EQ(named(run), "plan.ep");
  run.ep = 8;
  EXPECT_EQ(named(run), "");
  run.expert_tp = 2;  // 16 of the 8 ranks of a stage
  EXPECT_EQ(named(run), "plan.ep");
  run.expert_tp.reset();
  run.experts->per_token = 9;
  EXPECT_EQ(named(run), "model.moe.topk");
}

TEST(TrainingRun, DegreesDivideWhatTheyDivide) {
  TrainingRun run = sound();
  run.shape.kv_heads = 2;  // replicated over pairs
  EXPECT_EQ(named(run), "");
  run.shape.heads = 24;
  run.shape.kv_heads = 6;
  EXPECT_EQ(named(run), "plan.tp");
  run = sound();
  run.cp = 3;
  EXPECT_EQ(named(run), "plan.cp");
  run = sound();
  run.shard_group = 3;
  EXPECT_EQ(named(run), "plan.zero_group");
}

// T5-base (Raffel et al. 2020, section 3.1.2) has 222,903,552 parameters, of which 2 x 32 x 12 are
// biases by distance, which a run does not have.
TEST(TrainingRun, CountsAnEncoderAndTheAttentionToIt) {
  TrainingRun run;
  run.shape = {.layers = 12,
               .hidden = 768,
               .heads = 12,
               .kv_heads = 12,
               .head_dim = 64,
               .feed_forward = 3072,
               .vocabulary = 32128};
  run.shape.norm = OpVariant::kRmsNorm;
  run.shape.activation = OpVariant::kRelu;
  run.shape.learned_positions = false;
  run.shape.biases = false;
  run.shape.qkv_bias = false;
  run.shape.tied_embeddings = true;
  run.sequence = 128;
  run.encoder = EncoderShape{.layers = 12, .sequence = 512};
  ASSERT_TRUE(check(run));
  EXPECT_EQ(parameter_counts(run).total, 222'903'552.0 - 2 * 32 * 12);
  run.encoder->sequence = 0;
  EXPECT_EQ(check(run).error().where, "model.encoder_seq_len");
}

}  // namespace
}  // namespace stagewright
