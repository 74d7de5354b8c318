#include "formats/measured_words.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

RecomputedLayers layers_of(const char* words) {
  TrainingRun run;
  EXPECT_TRUE(read_recompute(words, run)) << words;
  EXPECT_EQ(run.recompute, Recompute::kFull) << words;
  return run.recomputed;
}

TEST(MeasuredWords, SayWhichLayersAreRecomputed) {
  EXPECT_EQ(layers_of("full"), RecomputedLayers{});
  EXPECT_EQ(layers_of("Full (uniform, 1 layers)"), RecomputedLayers{});
  EXPECT_EQ(layers_of("full (uniform, 4 layers)"), (RecomputedLayers{.checkpoint = 4}));
  EXPECT_EQ(layers_of("full (uniform)"), RecomputedLayers{});
  EXPECT_EQ(layers_of("full (block, 5 layers)"), (RecomputedLayers{.block = 5}));
  EXPECT_EQ(layers_of("full, block, num_layers=12"), (RecomputedLayers{.block = 12}));
  EXPECT_EQ(layers_of("selective (every 2nd layer)"), (RecomputedLayers{.every = 2}));
  EXPECT_EQ(layers_of("selective (every 3rd layer)"), (RecomputedLayers{.every = 3}));
}

TEST(MeasuredWords, LeaveTheRunAloneWhereTheyMakeNoSense) {
  for (const char* words : {"full (block)",
                            "full (block, 0 layers)",
                            "full (block, -x layers)",
                            "selective (every layer)",
                            "full (block, 99999999999999 layers)",
                            "fullish",
                            ""}) {
    TrainingRun run;
    run.recompute = Recompute::kSelective;
    EXPECT_FALSE(read_recompute(words, run)) << words;
    EXPECT_EQ(run.recompute, Recompute::kSelective) << words;
    EXPECT_EQ(run.recomputed, RecomputedLayers{}) << words;
  }
}

}  // namespace
}  // namespace stagewright
