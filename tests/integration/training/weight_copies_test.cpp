#include <gtest/gtest.h>

#include "tests/integration/training/layouts.h"
#include "tests/integration/training/trained_weights.h"

namespace stagewright {
namespace {

constexpr std::int32_t kSteps = 10;

/// Layouts with two copies of each stage.
class WeightCopies : public testing::TestWithParam<Layout> {};

// Both get the sum of both gradients, added in one order, so not one bit may differ.
TEST_P(WeightCopies, StayEqualToTheBit) {
  for (const Style style : {Style::kGpt, Style::kLlama}) {
    const auto ranks =
        trained_weights(schedule_of(small_model(style), GetParam(), adamw()), kSteps);
    std::map<std::string, std::vector<const std::vector<float>*>> copies;
    for (const RankWeights& weights : ranks) {
      for (const auto& [name, values] : weights) {
        copies[name].push_back(&values);
      }
    }
    EXPECT_GT(copies.size(), 0U);
    for (const auto& [name, held] : copies) {
      ASSERT_EQ(held.size(), 2U * static_cast<std::size_t>(GetParam().dp)) << name;
      for (const std::vector<float>* copy : held) {
        EXPECT_EQ(*copy, *held.front()) << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts,
    WeightCopies,
    testing::Values(Layout{.name = "pp2_chimera", .pp = 2, .schedule = "chimera"},
                    Layout{.name = "pp4_chimera", .pp = 4, .schedule = "chimera"},
                    Layout{.name = "dp2_pp2_chimera", .dp = 2, .pp = 2, .schedule = "chimera"},
                    Layout{.name = "pp2_dualpipe", .pp = 2, .schedule = "dualpipe"},
                    Layout{.name = "pp4_dualpipe", .pp = 4, .schedule = "dualpipe"}),
    [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace stagewright
