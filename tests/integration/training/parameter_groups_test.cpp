#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/trainer/sampled_batches.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

[[nodiscard]] Result<RunReport> train_with(const Layout& layout,
                                           const OptimizerSpec& optimizer,
                                           const std::vector<ParameterGroup>& groups,
                                           std::int32_t steps) {
  const Schedule schedule = schedule_of(small_model(Style::kGpt, 3), layout, optimizer);
  const TokenData data = learnable_tokens();
  const SampledBatches batches(data, schedule, kTrainingSeed);
  RunOptions options;
  options.steps = steps;
  options.seed = kTrainingSeed;
  options.groups = groups;
  return run(std::vector<const Schedule*>(schedule.ranks.size(), &schedule), batches, options);
}

// Every parameter in a group of its own rate and decay: as if the optimizer had these.
TEST(ParameterGroups, HaveTheirOwnRateAndDecay) {
  OptimizerSpec other = adamw();
  other.learning_rate /= 4;
  other.weight_decay = 0;
  const auto grouped =
      train_with({.name = "one"}, adamw(), {{.names = "*", .rate = 0.25, .weight_decay = 0.0}}, 4);
  const auto expected = train_with({.name = "one"}, other, {}, 4);
  ASSERT_TRUE(grouped && expected);
  EXPECT_EQ(grouped->trace.losses, expected->trace.losses);
}

TEST(ParameterGroups, AreThereHoweverWeightsAreDivided) {
  const std::vector<ParameterGroup> groups = {
      {.names = "block.1.attention.k.*", .rate = 0},
      {.names = "block.*.bias", .rate = 3},
      {.names = "*norm*", .rate = 0.5, .weight_decay = 0.1},
      {.names = "embedding.table", .rate = 2, .weight_decay = 0.0},
  };
  const auto expected = train_with({.name = "one"}, adamw(), groups, 10);
  const auto ungrouped = train_with({.name = "one"}, adamw(), {}, 10);
  ASSERT_TRUE(expected && ungrouped);
  EXPECT_GT(std::abs(expected->trace.losses.back() - ungrouped->trace.losses.back()), 1e-3);
  const std::vector<Layout> layouts = {
      {.name = "tp2", .tp = 2},
      {.name = "pp2", .pp = 2},
      {.name = "dp2_zero1", .dp = 2, .zero_stage = 1},
      {.name = "dp2_zero2", .dp = 2, .zero_stage = 2},
      {.name = "dp2_sp2_zero3", .dp = 2, .tp = 2, .zero_stage = 3, .sequence_parallel = true},
  };
  for (const Layout& layout : layouts) {
    const auto actual = train_with(layout, adamw(), groups, 10);
    ASSERT_TRUE(actual) << actual.error().to_string();
    for (std::size_t step = 0; step < 10; ++step) {
      EXPECT_NEAR(actual->trace.losses[step], expected->trace.losses[step], 1e-4 * 4.2)
          << layout.name << ", step " << step;
    }
  }
}

TEST(ParameterGroups, NameWhatIsThere) {
  const auto report = train_with({.name = "one"}, sgd(), {{.names = "block.7.*", .rate = 2}}, 1);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().to_string(),
            "groups.block.7.*: no parameter of 'small' has such a name; 'embedding.table' is one");
  const auto negative = train_with({.name = "one"}, sgd(), {{.names = "*", .rate = -1}}, 1);
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().to_string(),
            "groups.*: rate -1 and weight decay 0; use numbers of 0 or more");
}

}  // namespace
}  // namespace stagewright
