#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "sim/cost/cost_model.h"
#include "sim/engine/static_pass.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

/// The same sums in the same order: not one bit may differ.
class Recomputation
    : public testing::TestWithParam<std::tuple<Style, Recompute, RecomputePlacement>> {};

TEST_P(Recomputation, GivesTheVeryLossesOfKeptActivations) {
  const auto& [style, recompute, placement] = GetParam();
  for (const std::string schedule : {"1f1b", "zb-h1"}) {
    for (const std::int32_t pp : {1, 2}) {
      const ModelGraph model = small_model(style, 3);
      Layout layout{.name = "pp", .pp = pp, .schedule = schedule};
      const auto kept = train(schedule_of(model, layout, adamw()), 5);
      layout.recompute = recompute;
      layout.recompute_placement = placement;
      const auto recomputed = train(schedule_of(model, layout, adamw()), 5);
      ASSERT_TRUE(kept && recomputed);
      EXPECT_EQ(recomputed->trace.losses, kept->trace.losses);
      EXPECT_EQ(recomputed->trace.gradient_norms, kept->trace.gradient_norms);
      // Weight halves that come later need everything until then.
      if (placement == RecomputePlacement::kBackward && schedule == "1f1b") {
        constexpr auto kActivation = static_cast<std::size_t>(TensorClass::kActivation);
        EXPECT_LT(recomputed->memory[0].by_class[kActivation],
                  kept->memory[0].by_class[kActivation]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Styles,
                         Recomputation,
                         testing::Combine(testing::Values(Style::kGpt, Style::kLlama),
                                          testing::Values(Recompute::kSelective, Recompute::kFull),
                                          testing::Values(RecomputePlacement::kBackward,
                                                          RecomputePlacement::kAhead)));

// Under sequence parallelism a projection's input is gathered for the repeated product, and the
// weight's gradient reads the same; the losses stay what they are without recomputation.
TEST(RecomputationOfDividedRows, GathersEachInputOnce) {
  const ModelGraph model = small_model(Style::kGpt, 3);
  Layout layout{.name = "sp2", .tp = 2, .sequence_parallel = true};
  const auto kept = train(schedule_of(model, layout, adamw()), 3);
  layout.recompute = Recompute::kFull;
  const Schedule schedule = schedule_of(model, layout, adamw());
  std::multiset<TensorId> gathered;
  for (const Operation& op : schedule.programs.front().stages.front().backward) {
    if (op.kind == OpKind::kAllGather) {
      gathered.insert(op.outputs.front());
    }
  }
  EXPECT_FALSE(gathered.empty());
  for (const TensorId tensor : gathered) {
    EXPECT_EQ(gathered.count(tensor), 1U);
  }
  const auto recomputed = train(schedule, 3);
  ASSERT_TRUE(kept && recomputed);
  EXPECT_EQ(recomputed->trace.losses, kept->trace.losses);
}

Duration step_time(const Layout& layout) {
  const Schedule schedule = schedule_of(small_model(Style::kLlama), layout, sgd());
  return simulate(schedule, cluster_of(layout), *make_analytical_cost(), {})->summary.step_time;
}

// Ranks that wait for a gradient recompute meanwhile, so that the first P - 1 backwards of the
// pipeline are on their way without it.
TEST(RecomputationAhead, OverlapsTheWaitForTheGradient) {
  Layout layout{.name = "pp4", .pp = 4, .recompute = Recompute::kFull};
  const Duration in_backward = step_time(layout);
  layout.recompute_placement = RecomputePlacement::kAhead;
  const Duration ahead = step_time(layout);
  EXPECT_LT(to_seconds(ahead), 0.97 * to_seconds(in_backward));
}

// On one rank there is nothing to wait for.
TEST(RecomputationAhead, CostsNothingWhereNothingWaits) {
  Layout layout{.name = "one", .recompute = Recompute::kFull};
  const Duration in_backward = step_time(layout);
  layout.recompute_placement = RecomputePlacement::kAhead;
  EXPECT_EQ(step_time(layout), in_backward);
}

}  // namespace
}  // namespace stagewright
