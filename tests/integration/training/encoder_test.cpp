#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/model/transformer.h"
#include "runtime/trainer/sampled_batches.h"
#include "tests/integration/training/alike_traces.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

constexpr std::int32_t kSteps = 8;

[[nodiscard]] Trace trained(const ModelGraph& model,
                            const Layout& layout,
                            const OptimizerSpec& optimizer,
                            std::uint64_t seed = kTrainingSeed) {
  const Schedule schedule = schedule_of(model, layout, optimizer);
  const TokenData data = learnable_tokens();
  const SampledBatches batches(data, schedule, kTrainingSeed);
  RunOptions options;
  options.steps = kSteps;
  options.seed = seed;
  auto report =
      run(std::vector<const Schedule*>(schedule.ranks.size(), &schedule), batches, options);
  EXPECT_TRUE(report) << layout.name << ": " << report.error().to_string();
  return report ? std::move(report->trace) : Trace{};
}

[[nodiscard]] ModelGraph encoder_with_dropout(double probability) {
  TransformerShape shape = small_model(Style::kEncoder, 3).shape;
  shape.dropout = probability;
  return *make_transformer("small", "gpt2", shape);
}

/// The squared errors begin near 1 / 61 and change by some percent.
[[nodiscard]] OptimizerSpec adam() {
  OptimizerSpec optimizer = adamw();
  optimizer.kind = OptimizerKind::kAdam;
  optimizer.weight_decay = 1e-3;
  return optimizer;
}

/// A layout that dropped other elements would be off by percents.
class Encoder : public testing::TestWithParam<Layout> {
 protected:
  static void expect_equal(const OptimizerSpec& optimizer, double tolerance) {
    const ModelGraph model = encoder_with_dropout(0.2);
    const Trace expected = trained(model, {.name = "one"}, optimizer);
    const Trace actual = trained(model, GetParam(), optimizer);
    ASSERT_EQ(actual.losses.size(), static_cast<std::size_t>(kSteps));
    expect_alike(actual, expected, tolerance);
  }
};

TEST_P(Encoder, SgdGivesTheLossesAndNormsOfOneRank) {
  expect_equal(sgd(), 1e-5);
}

TEST_P(Encoder, AdamGivesTheLossesAndNormsOfOneRank) {
  expect_equal(adam(), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts,
    Encoder,
    testing::Values(Layout{.name = "dp2", .dp = 2},
                    Layout{.name = "dp2_of_two_sequences", .dp = 2, .micro_batch_size = 2},
                    Layout{.name = "tp2", .tp = 2},
                    Layout{.name = "sp2", .tp = 2, .sequence_parallel = true},
                    Layout{.name = "sp2_of_two_sequences",
                           .tp = 2,
                           .micro_batch_size = 2,
                           .sequence_parallel = true},
                    Layout{.name = "cp2", .cp = 2},
                    Layout{.name = "cp4_of_two_sequences", .cp = 4, .micro_batch_size = 2},
                    Layout{.name = "sp2_cp2_full",
                           .tp = 2,
                           .cp = 2,
                           .recompute = Recompute::kFull,
                           .sequence_parallel = true},
                    Layout{.name = "pp2_zb_h1", .pp = 2, .schedule = "zb-h1"},
                    Layout{.name = "pp4_chimera", .pp = 4, .schedule = "chimera"},
                    Layout{.name = "pp2_interleaved",
                           .pp = 2,
                           .virtual_stages = 2,
                           .schedule = "interleaved-1f1b"},
                    Layout{.name = "dp2_tp2_pp2", .dp = 2, .tp = 2, .pp = 2},
                    Layout{.name = "sp2_full",
                           .tp = 2,
                           .recompute = Recompute::kFull,
                           .sequence_parallel = true},
                    Layout{.name = "dp2_sp2_pp2_zero3",
                           .dp = 2,
                           .tp = 2,
                           .pp = 2,
                           .schedule = "zb-h1",
                           .zero_stage = 3,
                           .sequence_parallel = true}),
    [](const auto& chosen) { return chosen.param.name; });

// The same micro-batches in the same order, and masks that are functions of their places.
TEST(Dropout, PipelinesAndRecomputationGiveTheVeryBits) {
  const ModelGraph model = encoder_with_dropout(0.2);
  const Trace one = trained(model, {.name = "one"}, adam());
  for (const Layout& layout :
       {Layout{.name = "full", .recompute = Recompute::kFull},
        Layout{.name = "pp2_full", .pp = 2, .schedule = "zb-h1", .recompute = Recompute::kFull},
        Layout{.name = "pp2_ahead",
        .pp = 2,
        .recompute = Recompute::kFull,
        .recompute_placement = RecomputePlacement::kAhead},
        Layout{.name = "pp2_gpipe", .pp = 2, .schedule = "gpipe"}}) {
    EXPECT_EQ(trained(model, layout, adam()).losses.front(), one.losses.front()) << layout.name;
  }
  const Layout recomputed{.name = "full", .recompute = Recompute::kFull};
  EXPECT_EQ(trained(model, recomputed, adam()).losses, one.losses);
}

TEST(Dropout, IsAnotherOneInEachStepAndRun) {
  OptimizerSpec still = sgd();
  still.learning_rate = 0;
  still.weight_decay = 0;
  const ModelGraph model = encoder_with_dropout(0.2);
  const ModelGraph whole = encoder_with_dropout(0);
  const Layout one{.name = "one"};
  const Trace dropped = trained(model, one, still);
  EXPECT_EQ(trained(model, one, still).losses, dropped.losses);
  EXPECT_NE(trained(whole, one, still).losses.front(), dropped.losses.front());
  // Steps 0 and 1 see other data; the difference to the model that drops nothing is not theirs.
  const Trace kept = trained(whole, one, still);
  EXPECT_NE(dropped.losses[1] - kept.losses[1], dropped.losses[0] - kept.losses[0]);
  EXPECT_NE(trained(model, one, still, kTrainingSeed + 1).losses, dropped.losses);
}

// 61 columns, of which one is 1 and the others 0: the mean of outputs near 0 is 1 / 61.
TEST(SquaredError, BeginsWithTheMeanOfTheTargetsAndFalls) {
  const Trace trace = trained(encoder_with_dropout(0), {.name = "one"}, adam());
  EXPECT_NEAR(trace.losses.front(), 1.0 / 61, 0.15);
  EXPECT_LT(trace.losses.back(), trace.losses.front());
}

}  // namespace
}  // namespace stagewright
