#include "sim/step/step_time.h"

#include <array>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "memory_setups.h"
#include "sim/cost/kernel_time.h"
#include "sim/cost/run_choices.h"
#include "sim/memory/rank_layers.h"
#include "sim/step/stage_layers.h"

namespace stagewright {
namespace {

StepConstants constants() {
  return *load_step_constants(DataFiles::embedded());
}

/// GPT-3 of 175 billion parameters (Brown et al. 2020, table 2.1) on 256 A100, dp 8 x tp 8 x pp 4.
TrainingSetup gpt3() {
  TrainingSetup setup = setup_with("megatron-lm");
  TrainingRun& run = setup.run;
  run = gpt_run(96, 12288, 96);
  run.dp = 8;
  run.tp = 8;
  run.pp = 4;
  run.micro_batches = 192;
  run.format = MatrixFormat::kFloat16;
  run.half_precision = true;
  run.recompute = Recompute::kFull;
  return setup;
}

/// Model FLOP/s per device over the data sheet's peak (Narayanan et al. 2021, equation 2, without
/// the recomputed forward).
double utilisation(const TrainingSetup& setup, double seconds) {
  const TrainingRun& run = setup.run;
  const auto tokens = static_cast<double>(run.global_batch() * run.sequence);
  const auto layers = static_cast<double>(run.shape.layers);
  const auto hidden = static_cast<double>(run.shape.hidden);
  const double flops = 72 * tokens * layers * hidden * hidden *
                       (1 + static_cast<double>(run.sequence) / (6 * hidden) +
                        static_cast<double>(run.shape.vocabulary) / (12 * layers * hidden));
  return flops / seconds / static_cast<double>(run.devices()) / 312e12;
}

TEST(StepTime, TermsAddUpToTheStep) {
  const StepTime step = step_time(gpt3(), constants());
  double sum = 0;
  for (const double term : step.terms) {
    EXPECT_GE(term, 0);
    sum += term;
  }
  EXPECT_NEAR(sum, step.seconds, 1e-9 * step.seconds);
}

// Megatron-LM reports 44 to 52 % of peak for such models with recomputation counted (Narayanan et
// al. 2021, table 1), three quarters of that without.
TEST(StepTime, Gpt3On256DevicesReachesWhatMegatronReports) {
  TrainingSetup setup = gpt3();
  EXPECT_NEAR(utilisation(setup, step_time(setup, constants()).seconds), 0.36, 0.04);
}

// (pp - 1) / m of the ideal time where stages are alike, divided by the virtual stages.
TEST(StepTime, BubbleIsThatOfTheSchedule) {
  TrainingSetup setup = gpt3();
  setup.run.shape.vocabulary = 8;  // ends that weigh nothing
  setup.run.micro_batches = 12;
  const StepTime plain = step_time(setup, constants());
  const double busy = plain.seconds / (1 + constants()[StepConstant::kStraggle] * 5) -
                      plain[StepTerm::kBubble] - plain[StepTerm::kGradientTraffic] -
                      plain[StepTerm::kOptimizer] - plain[StepTerm::kFixed] -
                      plain[StepTerm::kTransfers];
  EXPECT_NEAR(plain[StepTerm::kBubble] / busy, 3.0 / 12, 0.005);
  setup.run.virtual_stages = 4;
  EXPECT_NEAR(step_time(setup, constants())[StepTerm::kBubble],
              plain[StepTerm::kBubble] / 4,
              0.01 * plain[StepTerm::kBubble]);
}

// A third of the work, with its collectives, is done again; a forward's kernels are the less
// efficient half.
TEST(StepTime, FullRecomputationAddsAForward) {
  TrainingSetup setup = gpt3();
  const double with = step_time(setup, constants()).seconds;
  setup.run.recompute = Recompute::kNone;
  const double without = step_time(setup, constants()).seconds;
  EXPECT_NEAR(with / without, 1.34, 0.04);
}

TEST(StepTime, NarrowerNetworkOnlySlowsWhatCrossesIt) {
  TrainingSetup setup = gpt3();
  const StepTime wide = step_time(setup, constants());
  setup.inter_node.devices_per_port = 8;
  const StepTime narrow = step_time(setup, constants());
  EXPECT_NEAR(narrow[StepTerm::kGradientTraffic],
              8 * wide[StepTerm::kGradientTraffic],
              0.2 * narrow[StepTerm::kGradientTraffic]);
  EXPECT_EQ(narrow[StepTerm::kProducts], wide[StepTerm::kProducts]);
  EXPECT_EQ(narrow[StepTerm::kTensorTraffic], wide[StepTerm::kTensorTraffic]);
}

TEST(StepTime, OneOfEverythingHasNoTraffic) {
  TrainingSetup setup = gpt3();
  setup.run.dp = 1;
  setup.run.tp = 1;
  setup.run.pp = 1;
  setup.run.shape.layers = 2;
  const StepTime step = step_time(setup, constants());
  for (const StepTerm term : {StepTerm::kTensorTraffic,
                              StepTerm::kTransfers,
                              StepTerm::kBubble,
                              StepTerm::kGradientTraffic,
                              StepTerm::kStragglers}) {
    EXPECT_EQ(step[term], 0) << name_of(term);
  }
}

// A dp of 8 V100 (DGX-1): gradients of BERT-large-sized layers, 2 bytes each, over NVLink 2 at the
// measured 124 GB/s bus bandwidth take 2 x 7 / 8 x 0.68 GB / 124 GB/s = 10 ms: a few percent of a
// step of long sequences, a tenth of one with a single short micro-batch.
TEST(StepTime, GradientSynchronisationOnEightV100IsAFewPercent) {
  TrainingSetup setup = gpt3();
  const DataFiles files = DataFiles::embedded();
  setup.device = *find_device(files, "v100-16gb-sxm");
  setup.intra_node = setup.device.intra_node;
  setup.inter_node = setup.device.inter_node;
  TrainingRun& run = setup.run;
  run.shape.layers = 24;
  run.shape.hidden = 1024;
  run.shape.heads = 16;
  run.shape.kv_heads = 16;
  run.shape.head_dim = 64;
  run.shape.feed_forward = 4096;
  run.shape.vocabulary = 30528;
  run.sequence = 512;
  run.tp = 1;
  run.pp = 1;
  run.micro_batch = 8;
  run.micro_batches = 1;
  run.recompute = Recompute::kNone;
  const StepTime step = step_time(setup, constants());
  EXPECT_NEAR(step[StepTerm::kGradientTraffic], 0.0095, 0.004);
  EXPECT_GT(step[StepTerm::kGradientTraffic] / step.seconds, 0.015);
  EXPECT_LT(step[StepTerm::kGradientTraffic] / step.seconds, 0.08);
}

TEST(ProductTime, FollowsWavesOfTiles) {
  const TrainingSetup setup = gpt3();
  const KernelRates rates = kernel_rates(setup, constants(), TimingClass{});
  // 108 tiles of 256 x 128 are one wave; one more row of tiles costs a second.
  const double one = product_seconds(rates, rates.wide, 256 * 12, 8192, 128 * 9);
  const double more = product_seconds(rates, rates.wide, 256 * 24, 8192, 128 * 9);
  EXPECT_NEAR((more - rates.kernel) / (one - rates.kernel), 2, 1e-9);
  EXPECT_GT(product_seconds(rates, rates.wide, 256 * 13, 8192, 128 * 9), one);
}

// As many tiles, but 1150 columns of 2 bytes are no multiple of 16 bytes; 1144 are.
TEST(ProductTime, IsLongerWhereRowsOfAnOperandAreNotAligned) {
  const TrainingSetup setup = gpt3();
  const KernelRates rates = kernel_rates(setup, constants(), TimingClass{});
  const double aligned = product_seconds(rates, rates.wide, 4096, 8192, 1152) - rates.kernel;
  EXPECT_NEAR(
      product_seconds(rates, rates.wide, 4096, 8192, 1144) - rates.kernel, aligned, 1e-9 * aligned);
  EXPECT_NEAR(product_seconds(rates, rates.wide, 4096, 8192, 1150) - rates.kernel,
              1.5 * aligned,
              1e-9 * aligned);
  EXPECT_NEAR(product_seconds(rates, rates.wide, 4096, 8191, 1152) /
                  product_seconds(rates, rates.wide, 4096, 8192, 1152),
              1.5,
              0.01);
  // Rows of the result may be as many as they like.
  EXPECT_NEAR(
      product_seconds(rates, rates.wide, 4095, 8192, 1152) - rates.kernel, aligned, 1e-9 * aligned);
}

TEST(StageLayers, GivesFewerLayersToAHeavyEnd) {
  TrainingSetup setup = gpt3();
  setup.run.shape.layers = 32;
  setup.run.pp = 8;
  setup.framework.balances_stages = true;
  const StageLayers split = stage_layers(setup, 1.0, 0.1, 3.0);
  EXPECT_EQ(split.first + split.last + split.middle_sum, 32);
  EXPECT_LT(split.last, split.middle_most);
  setup.framework.balances_stages = false;
  const StageLayers even = stage_layers(setup, 1.0, 0.1, 3.0);
  EXPECT_EQ(even.last, 4);
}

// Time and memory speak of the same stages.
TEST(StageLayers, AreTheStagesThatMemoryIsCountedFor) {
  TrainingSetup setup = gpt3();
  for (const auto [layers, ranks, first, middle, last] :
       {std::array{70, 12, 5, 6, 5}, std::array{96, 8, 12, 12, 12}, std::array{11, 4, 3, 3, 2}}) {
    setup.run.shape.layers = layers;
    setup.run.pp = ranks;
    const StageLayers cut = stage_layers(setup, 1.0, 0.1, 3.0);
    EXPECT_EQ(cut.first, first) << layers;
    EXPECT_EQ(cut.middle_most, middle) << layers;
    EXPECT_EQ(cut.last, last) << layers;
    EXPECT_EQ(cut.last, layers_on_rank(setup.run, setup.framework, ranks - 1)) << layers;
    EXPECT_EQ(cut.first + cut.middle_sum + cut.last, layers);
  }
}

// A sum over ranks has no pieces that a product could begin with.
TEST(RunChoices, CutsTensorTrafficIntoPiecesOnlyWithSequenceParallelism) {
  TrainingSetup setup = gpt3();
  setup.run.tp = 8;
  setup.framework.overlap_tensor = true;
  setup.run.sequence_parallel = true;
  EXPECT_TRUE(choices_of(setup).decomposed_tensor);
  const double pieces = step_time(setup, constants())[StepTerm::kTensorTraffic];
  setup.framework.overlap_tensor = false;
  const double whole = step_time(setup, constants())[StepTerm::kTensorTraffic];
  EXPECT_LT(pieces, whole);
  setup.run.sequence_parallel = false;
  const double sums = step_time(setup, constants())[StepTerm::kTensorTraffic];
  setup.framework.overlap_tensor = true;
  EXPECT_FALSE(choices_of(setup).decomposed_tensor);
  EXPECT_EQ(step_time(setup, constants())[StepTerm::kTensorTraffic], sums);
}

TEST(StepConstants, FileRoundTrip) {
  StepConstants before = constants();
  before.learned.clear();  // they have a file of their own
  const auto after = parse_step_constants(to_json_text(before), "step_time.json");
  ASSERT_TRUE(after) << after.error().to_string();
  EXPECT_EQ(*after, before);
}

// Each further layer of the encoder costs what the one before did.
TEST(StepTime, GrowsWithTheEncodersLayers) {
  TrainingSetup setup = gpt3();
  setup.run.pp = 1;
  const auto with = [&](std::int64_t layers) {
    setup.run.encoder = EncoderShape{.layers = layers, .sequence = 1024};
    return step_time(setup, constants());
  };
  const StepTime none = step_time(setup, constants());
  const StepTime some = with(48);
  const StepTime more = with(96);
  const StepTime most = with(144);
  for (const StepTerm term :
       {StepTerm::kProducts, StepTerm::kAttention, StepTerm::kTensorTraffic}) {
    EXPECT_GT(some[term], none[term]) << name_of(term);
    EXPECT_NEAR((most[term] - more[term]) / (more[term] - some[term]), 1, 1e-9) << name_of(term);
  }
  EXPECT_EQ(some[StepTerm::kVocabulary], none[StepTerm::kVocabulary]);
}

}  // namespace
}  // namespace stagewright
