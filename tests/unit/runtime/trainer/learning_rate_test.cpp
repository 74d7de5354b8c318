#include "runtime/trainer/learning_rate.h"

#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

std::vector<double> factors(const RateSchedule& schedule, std::int64_t steps) {
  std::vector<double> factors;
  for (std::int64_t step = 1; step <= steps; ++step) {
    factors.push_back(rate_factor(schedule, step));
  }
  return factors;
}

TEST(RateSchedule, IsOneThroughoutByDefault) {
  EXPECT_EQ(factors({}, 3), (std::vector<double>{1, 1, 1}));
}

TEST(RateSchedule, RisesLinearlyFallsAndStays) {
  const RateSchedule linear{
      .decay = RateDecay::kLinear, .warmup_steps = 2, .decay_steps = 4, .minimum = 0.5};
  EXPECT_EQ(factors(linear, 8), (std::vector<double>{0.5, 1, 0.875, 0.75, 0.625, 0.5, 0.5, 0.5}));
}

// cos(0), cos(pi / 2) and cos(pi) are 1, 0 and -1.
TEST(RateSchedule, FollowsHalfACosine) {
  const RateSchedule cosine{
      .decay = RateDecay::kCosine, .warmup_steps = 1, .decay_steps = 4, .minimum = 0.2};
  EXPECT_DOUBLE_EQ(rate_factor(cosine, 1), 1);
  EXPECT_DOUBLE_EQ(rate_factor(cosine, 3), 0.6);
  EXPECT_DOUBLE_EQ(rate_factor(cosine, 5), 0.2);
  EXPECT_DOUBLE_EQ(rate_factor(cosine, 100), 0.2);
}

TEST(RateSchedule, NamesWhatCannotBe) {
  const auto message = [](const RateSchedule& schedule) {
    const Result<void> checked = check(schedule);
    return checked ? "" : checked.error().to_string();
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({.warmup_steps = -1}), "warmup_steps: is -1; use 0 or more");
  EXPECT_EQ(message({.minimum = 1.5}),
            "minimum: is 1.5; it is a part of the learning rate, 0 to 1");
  EXPECT_EQ(message({.decay = RateDecay::kCosine}),
            "decay_steps: is 0, but the learning rate falls (cosine); say in how many steps");
}

TEST(RateDecay, RoundTripsThroughItsName) {
  for (const RateDecay decay : {RateDecay::kConstant, RateDecay::kLinear, RateDecay::kCosine}) {
    EXPECT_EQ(rate_decay_named(name_of(decay)), decay);
  }
  EXPECT_EQ(rate_decay_named("exponential"), std::nullopt);
}

}  // namespace
}  // namespace stagewright
