#include "sim/memory/rank_layers.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "memory_setups.h"

namespace stagewright {
namespace {

std::vector<std::int64_t> layers_of(const TrainingRun& run, const FrameworkProfile& framework) {
  std::vector<std::int64_t> layers;
  for (std::int32_t rank = 0; rank < run.pp; ++rank) {
    layers.push_back(layers_on_rank(run, framework, rank));
  }
  return layers;
}

using Layers = std::vector<std::int64_t>;

TEST(RankLayers, EmbeddingAndHeadCountAsLayersWhereOnlyThatDivides) {
  const FrameworkProfile framework = setup_with("megatron-deepspeed").framework;
  TrainingRun run = gpt_run(70, 14336, 112);
  run.pp = 12;
  EXPECT_EQ(layers_of(run, framework), (Layers{5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5}));
  run.shape.layers = 72;
  EXPECT_EQ(layers_of(run, framework), Layers(12, 6));
  run.shape.layers = 79;
  run.pp = 4;
  EXPECT_EQ(layers_of(run, framework), (Layers{20, 20, 20, 19}));
}

TEST(RankLayers, GivenEndsLeaveTheRestEven) {
  const FrameworkProfile framework = setup_with("megatron").framework;
  TrainingRun run = gpt_run(12, 512, 8);
  run.pp = 4;
  run.first_stage_layers = 2;
  run.last_stage_layers = 2;
  EXPECT_EQ(layers_of(run, framework), (Layers{2, 4, 4, 2}));
  run.first_stage_layers.reset();
  run.last_stage_layers = 3;
  EXPECT_EQ(layers_of(run, framework), (Layers{3, 3, 3, 3}));
}

TEST(RankLayers, RedistributionFreesTheLastRankAndSparesTheFirst) {
  const FrameworkProfile framework = setup_with("megatron").framework;
  TrainingRun run = gpt_run(32, 3072, 24);
  run.pp = 8;
  run.vocabulary_placement = VocabularyPlacement::kRedistributed;
  run.shape.vocabulary = 128000;
  const Layers layers = layers_of(run, framework);
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), std::int64_t{0}), 32);
  EXPECT_LT(layers.back(), 4);
  EXPECT_EQ(layers.front(), 4);
}

TEST(RankLayers, AddUpToTheModelHoweverTheyAreCut) {
  for (const char* const name : {"megatron", "nanotron", "megatron-deepspeed"}) {
    const FrameworkProfile framework = setup_with(name).framework;
    for (std::int64_t layers = 1; layers <= 40; ++layers) {
      for (std::int32_t pp = 1; pp <= layers && pp <= 16; ++pp) {
        TrainingRun run = gpt_run(layers, 2048, 16);
        run.pp = pp;
        const Layers cut = layers_of(run, framework);
        ASSERT_EQ(std::accumulate(cut.begin(), cut.end(), std::int64_t{0}), layers)
            << name << " " << layers << " over " << pp;
        ASSERT_GE(*std::min_element(cut.begin(), cut.end()), 0);
      }
    }
  }
}

}  // namespace
}  // namespace stagewright
