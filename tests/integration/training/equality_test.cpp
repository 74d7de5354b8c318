#include <cmath>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/integration/training/alike_traces.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

/// Trains by a layout and compares with one rank.
class Equality : public testing::TestWithParam<std::tuple<Style, Layout>> {
 protected:
  [[nodiscard]] static Trace trained(Style style,
                                     const Layout& layout,
                                     const OptimizerSpec& optimizer) {
    const Schedule schedule = schedule_of(small_model(style), layout, optimizer);
    auto report = train(schedule, kComparedSteps);
    EXPECT_TRUE(report) << report.error().to_string();
    return report ? std::move(report->trace) : Trace{};
  }

  static void expect_equal(const OptimizerSpec& optimizer, double tolerance) {
    const auto& [style, layout] = GetParam();
    const std::vector<Layout>& alike = style == Style::kExperts ? expert_layouts()
                                       : style == Style::kUnbalancedExperts
                                           ? context_expert_layouts()
                                           : equal_layouts();
    const Trace expected = trained(style, alike.front(), optimizer);
    const Trace actual = trained(style, layout, optimizer);
    ASSERT_EQ(actual.losses.size(), static_cast<std::size_t>(kComparedSteps));
    ASSERT_EQ(actual.gradient_norms.size(), static_cast<std::size_t>(kComparedSteps));
    expect_alike(actual, expected, tolerance);
    EXPECT_NEAR(expected.losses.front(), std::log(61.0), 0.2);  // nothing is known at first
    if constexpr (kLossFalls) {
      EXPECT_LT(expected.losses.back(), 0.97 * expected.losses.front());
    }
  }
};

// The sums of the layouts differ in order only: rounding of fp32 over 20 steps.
TEST_P(Equality, SgdGivesTheLossesAndNormsOfOneRank) {
  expect_equal(sgd(), 1e-5);
}

// AdamW divides by the root of small squared gradients, which makes more of the rounding.
TEST_P(Equality, AdamWGivesTheLossesAndNormsOfOneRank) {
  expect_equal(adamw(), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Layouts,
                         Equality,
                         testing::Combine(testing::Values(Style::kGpt, Style::kLlama),
                                          testing::ValuesIn(equal_layouts())),
                         [](const auto& chosen) {
                           return std::string(std::get<0>(chosen.param) == Style::kGpt ? "gpt_"
                                                                                       : "llama_") +
                                  std::get<1>(chosen.param).name;
                         });

INSTANTIATE_TEST_SUITE_P(Experts,
                         Equality,
                         testing::Combine(testing::Values(Style::kExperts),
                                          testing::ValuesIn(expert_layouts())),
                         [](const auto& chosen) { return std::get<1>(chosen.param).name; });

INSTANTIATE_TEST_SUITE_P(ContextExperts,
                         Equality,
                         testing::Combine(testing::Values(Style::kUnbalancedExperts),
                                          testing::ValuesIn(context_expert_layouts())),
                         [](const auto& chosen) { return std::get<1>(chosen.param).name; });

// One rank and a pipeline accumulate the same micro-batches in the same order.
TEST(Pipeline, GivesTheVeryLossesOfOneRank) {
  const ModelGraph model = small_model(Style::kLlama);
  const auto one = train(schedule_of(model, equal_layouts().front(), sgd()), 5);
  for (const char* schedule : {"gpipe", "1f1b"}) {
    const Layout layout{.name = "pp2", .pp = 2, .schedule = schedule};
    const auto two = train(schedule_of(model, layout, sgd()), 5);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(two->trace.losses.front(), one->trace.losses.front());
  }
}

}  // namespace
}  // namespace stagewright
