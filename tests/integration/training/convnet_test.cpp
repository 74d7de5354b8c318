#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner/lower/lower.h"
#include "runtime/profiler/profiler.h"
#include "runtime/trainer/synthetic_images.h"
#include "tests/integration/training/alike_traces.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

constexpr std::int32_t kSteps = 12;

[[nodiscard]] OptimizerSpec gentle_sgd() {
  OptimizerSpec optimizer = sgd();
  optimizer.learning_rate = 0.05;
  return optimizer;
}

[[nodiscard]] Trace trained(const Layout& layout, const OptimizerSpec& optimizer) {
  auto report = train(schedule_of(small_model(Style::kConvNet), layout, optimizer), kSteps);
  EXPECT_TRUE(report) << layout.name << ": " << report.error().to_string();
  return report ? std::move(report->trace) : Trace{};
}

/// Losses are means over images, gradients are sums of those of all micro-batches, whoever has
/// them.
class ConvNet : public testing::TestWithParam<Layout> {};

TEST_P(ConvNet, SgdGivesTheLossesAndNormsOfOneRank) {
  const Trace actual = trained(GetParam(), gentle_sgd());
  ASSERT_EQ(actual.losses.size(), static_cast<std::size_t>(kSteps));
  expect_alike(actual, trained({.name = "one"}, gentle_sgd()), 1e-5);
}

TEST_P(ConvNet, AdamWGivesTheLossesAndNormsOfOneRank) {
  expect_alike(trained(GetParam(), adamw()), trained({.name = "one"}, adamw()), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts,
    ConvNet,
    testing::Values(
        Layout{.name = "dp2", .dp = 2},
        Layout{.name = "dp2_of_two_images", .dp = 2, .micro_batch_size = 2},
        Layout{.name = "dp4_zero2", .dp = 4, .zero_stage = 2},
        Layout{.name = "pp2_zb_h1", .pp = 2, .schedule = "zb-h1"},
        Layout{.name = "pp2_interleaved",
               .pp = 2,
               .virtual_stages = 2,
               .schedule = "interleaved-1f1b"},
        Layout{.name = "pp2_zb_v", .pp = 2, .virtual_stages = 2, .schedule = "zb-v"},
        Layout{.name = "pp4_chimera", .pp = 4, .schedule = "chimera"},
        Layout{.name = "pp4_of_two_images", .pp = 4, .micro_batch_size = 2},
        Layout{.name = "full", .recompute = Recompute::kFull},
        Layout{.name = "dp2_pp2_zb_h2_full",
               .dp = 2,
               .pp = 2,
               .schedule = "zb-h2",
               .recompute = Recompute::kFull},
        Layout{.name = "dp2_pp2_zero3", .dp = 2, .pp = 2, .schedule = "zb-h1", .zero_stage = 3}),
    [](const auto& chosen) { return chosen.param.name; });

// The same micro-batches in the same order, added up in the same order.
TEST(ConvNetBits, PipelinesAndRecomputationKeepTheVeryBits) {
  const Trace one = trained({.name = "one"}, adamw());
  for (const Layout& layout : {Layout{.name = "pp2_gpipe", .pp = 2, .schedule = "gpipe"},
                               Layout{.name = "pp3_1f1b", .pp = 3},
                               Layout{.name = "pp2_ahead",
                               .pp = 2,
                               .recompute = Recompute::kFull,
                               .recompute_placement = RecomputePlacement::kAhead}}) {
    EXPECT_EQ(trained(layout, adamw()).losses.front(), one.losses.front()) << layout.name;
  }
  const Layout recomputed{.name = "full", .recompute = Recompute::kFull};
  EXPECT_EQ(trained(recomputed, adamw()).losses, one.losses);
}

TEST(ConvNetLearning, TheLossFallsBelowThatOfGuessing) {
  OptimizerSpec quick = adamw();
  quick.learning_rate = 0.01;
  const Schedule schedule =
      schedule_of(small_model(Style::kConvNet), {.name = "dp2_pp2", .dp = 2, .pp = 2}, quick);
  const auto report = train(schedule, kLossFalls ? 150 : 2);
  ASSERT_TRUE(report) << report.error().to_string();
  const std::vector<double>& losses = report->trace.losses;
  if (kLossFalls) {
    const double last = std::accumulate(losses.end() - 20, losses.end(), 0.0) / 20;
    EXPECT_LT(last, 0.85 * std::log(10.0)) << "of guessing among ten classes";
  }
}

TEST(ConvNetProfile, MeasuresEveryOperation) {
  const std::vector<Schedule> schedules = {schedule_of(
      small_model(Style::kConvNet), {.name = "pp2_zb_h1", .pp = 2, .schedule = "zb-h1"}, adamw())};
  ProfileOptions options;
  options.warm_up = 1;
  options.steps = 2;
  options.links = false;
  const auto measured = measure_segments(schedules, options);
  ASSERT_TRUE(measured) << measured.error().to_string();
  for (const RankProgram& program : schedules.front().programs) {
    for (const StageProgram& stage : program.stages) {
      for (const auto* phase : {&stage.forward, &stage.backward}) {
        for (const Operation& op : *phase) {
          EXPECT_NE(measured->operation(cost_key(op)), nullptr) << cost_key(op);
        }
      }
    }
  }
}

// What cannot be done is said before anything runs.
TEST(ConvNetRefusals, NameTheKeyAndWhatWouldDo) {
  const ModelGraph model = small_model(Style::kConvNet);
  const auto refusal = [&](const Layout& layout, const std::string& key, const std::string& words) {
    const auto schedule = lower(model, cluster_of(layout), plan_of(model, layout, sgd()));
    ASSERT_FALSE(schedule) << layout.name;
    EXPECT_EQ(schedule.error().where, key) << layout.name;
    EXPECT_NE(schedule.error().message.find(words), std::string::npos) << schedule.error().message;
  };
  refusal(
      {.name = "tp2", .tp = 2}, "plan:/stages/0/tp", "convolutions, which are not divided; use 1");
  refusal({.name = "cp2", .cp = 2}, "plan:/cp", "sees images, which it does not divide; use 1");
  refusal({.name = "ep2", .dp = 2, .ep = 2}, "plan:/ep", "expert");
  Plan tokens = plan_of(model, {.name = "one"}, sgd());
  tokens.sequence = 16;
  const auto schedule = lower(model, cluster_of({.name = "one"}), tokens);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().where, "plan:/sequence");
}

TEST(SyntheticImages, AreThoseOfTheGlobalBatchWhateverTheLayout) {
  const ModelGraph model = small_model(Style::kConvNet);
  const Schedule one = schedule_of(model, {.name = "one"}, sgd());
  const Schedule two = schedule_of(model, {.name = "dp2", .dp = 2, .micro_batch_size = 2}, sgd());
  const SyntheticImages::Sizes sizes{.elements = 12 * 12 * 3, .classes = 10};
  ASSERT_EQ(image_elements_of(one), sizes.elements);
  const SyntheticImages singles(sizes, one, 7);
  const SyntheticImages pairs(sizes, two, 7);
  const auto elements = static_cast<std::size_t>(sizes.elements);
  std::vector<std::int32_t> pair(2 * elements);
  std::vector<std::int32_t> classes(2);
  // Replica 1 has images 4 to 7; its second micro-batch 6 and 7.
  const MicroBatchSource::Place second{.step = 3, .replica = 1, .micro_batch = MicroBatchId(1)};
  pairs.tokens(second, pair);
  pairs.targets(second, classes);
  for (std::size_t i = 0; i < 2; ++i) {
    const MicroBatchSource::Place place{.step = 3, .micro_batch = MicroBatchId(6 + i)};
    std::vector<std::int32_t> image(elements);
    std::vector<std::int32_t> label(1);
    singles.tokens(place, image);
    singles.targets(place, label);
    EXPECT_EQ(label.front(), classes[i]);
    EXPECT_TRUE(std::equal(
        image.begin(), image.end(), pair.begin() + static_cast<std::ptrdiff_t>(i * elements)));
    EXPECT_GE(*std::min_element(image.begin(), image.end()), 0);
    EXPECT_LE(*std::max_element(image.begin(), image.end()), 255);
  }
  std::vector<std::int32_t> next(2 * elements);
  pairs.tokens({.step = 4, .replica = 1, .micro_batch = MicroBatchId(1)}, next);
  EXPECT_NE(next, pair);
}

TEST(SyntheticImages, NeedNoFile) {
  const Schedule schedule = schedule_of(small_model(Style::kConvNet), {.name = "one"}, sgd());
  RunOptions options;
  options.steps = 1;
  options.data = "some.txt";
  const auto report = run(schedule, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(report.error().where, "some.txt");
}

}  // namespace
}  // namespace stagewright
