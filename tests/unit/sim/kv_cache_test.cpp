#include "sim/memory/kv_cache.h"

#include <gtest/gtest.h>

#include "memory_setups.h"

namespace stagewright {
namespace {

ServingRun serving(TrainingRun model) {
  ServingRun run;
  run.model = std::move(model);
  run.context = 2048;
  return run;
}

// Kwon et al. 2023 (vLLM), section 3: a token of OPT-13B takes 800 KB, a sequence of 2048 1.6 GB.
TEST(KvCache, OfATokenOfOpt13BIsThePublishedFigure) {
  const ServingRun run = serving(gpt_run(40, 5120, 40));
  EXPECT_DOUBLE_EQ(cache_bytes_per_token(run), 800 * 1024);
  const TrainingSetup setup = setup_with("generic");
  const ServingMemory memory = serving_memory(run, setup.device, prior_memory_constants());
  EXPECT_EQ(memory.cache, Bytes(2048 * 800 * 1024));
}

TEST(KvCache, GroupedQueriesDivideItByTheirGroups) {
  const ServingRun whole = serving(llama_run(80, 8192, 64, 64, 28672, 32000));
  const ServingRun grouped = serving(llama_run(80, 8192, 64, 8, 28672, 32000));
  EXPECT_DOUBLE_EQ(cache_bytes_per_token(whole), 8 * cache_bytes_per_token(grouped));
  EXPECT_DOUBLE_EQ(cache_bytes_per_token(grouped), 2.0 * 80 * 8 * 128 * 2);
}

TEST(KvCache, StopsShrinkingWhereEveryRankHasOneHead) {
  ServingRun run = serving(llama_run(80, 8192, 64, 8, 28672, 32000));
  run.model.tp = 8;
  const double at_eight = cache_bytes_per_token(run);
  run.model.tp = 16;
  EXPECT_DOUBLE_EQ(cache_bytes_per_token(run), at_eight);
}

// DeepSeek-V2, section 2.1.4: 512 + 64 elements a layer, whatever the number of heads.
TEST(KvCache, OfLatentAttentionIsTheCompressedForm) {
  ServingRun run = serving(llama_run(60, 5120, 128, 128, 12288, 102400));
  run.model.latent_attention = true;
  EXPECT_DOUBLE_EQ(cache_bytes_per_token(run), 60.0 * (512 + 64) * 2);
}

// The usual surprise: 26 GB of weights leave room on 40 GB, but for few long sequences.
TEST(KvCache, DecidesHowManySequencesFit) {
  const ServingRun run = serving(gpt_run(40, 5120, 40));
  DeviceType device = setup_with("generic").device;
  device.memory = Bytes(std::int64_t{39'500} << 20);
  const auto most = most_sequences(run, device, prior_memory_constants());
  ASSERT_TRUE(most.has_value());
  EXPECT_GE(*most, 6);
  EXPECT_LE(*most, 9);
  ServingRun full = run;
  full.sequences = *most;
  EXPECT_LE(serving_memory(full, device, prior_memory_constants()).total(), device.memory);
  ++full.sequences;
  EXPECT_GT(serving_memory(full, device, prior_memory_constants()).total(), device.memory);
  device.memory = Bytes(std::int64_t{16'000} << 20);
  EXPECT_FALSE(most_sequences(run, device, prior_memory_constants()).has_value());
}

}  // namespace
}  // namespace stagewright
