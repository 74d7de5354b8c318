#include "runtime/trainer/learning_rate.h"

#include <vector>

#include <gtest/gtest.h>

#include "runtime/trainer/sampled_batches.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

[[nodiscard]] Result<RunReport> train_two_steps(const OptimizerSpec& optimizer,
                                                const RateSchedule& rate) {
  const Schedule schedule = schedule_of(small_model(Style::kGpt, 2), {.name = "one"}, optimizer);
  const TokenData data = learnable_tokens();
  const SampledBatches batches(data, schedule, kTrainingSeed);
  RunOptions options;
  options.steps = 2;
  options.seed = kTrainingSeed;
  options.rate = rate;
  return run(std::vector<const Schedule*>(schedule.ranks.size(), &schedule), batches, options);
}

// Half the rate in the first step of two is the half rate: the second loss tells.
TEST(LearningRate, IsThatOfTheStep) {
  OptimizerSpec half = sgd();
  half.learning_rate /= 2;
  const auto warm = train_two_steps(sgd(), {.warmup_steps = 2});
  const auto slow = train_two_steps(half, {});
  const auto whole = train_two_steps(sgd(), {});
  ASSERT_TRUE(warm && slow && whole);
  EXPECT_EQ(warm->trace.losses, slow->trace.losses);
  EXPECT_NE(warm->trace.losses, whole->trace.losses);
}

TEST(LearningRate, RefusesAnImpossibleSchedule) {
  const auto report = train_two_steps(sgd(), {.decay = RateDecay::kLinear});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(report.error().where, "rate.decay_steps");
}

}  // namespace
}  // namespace stagewright
