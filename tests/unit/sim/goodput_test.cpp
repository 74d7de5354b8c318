#include "sim/analysis/goodput.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using namespace std::chrono_literals;

FailureModel model_of(Duration mtbf, Duration checkpoint, Duration restart) {
  return {.mtbf = mtbf, .checkpoint_time = checkpoint, .restart_time = restart, .step_time = 10s};
}

Goodput expected(const FailureModel& model) {
  const auto goodput = expected_goodput(model);
  EXPECT_TRUE(goodput) << (goodput ? "" : goodput.error().to_string());
  return goodput.value_or(Goodput{});
}

double sum_of(const Goodput& goodput) {
  return goodput.useful + goodput.checkpoint + goodput.lost + goodput.restart + goodput.no_spare;
}

// C = 30 s, M = 5 h = 18000 s: sqrt(2 * 30 * 18000) = 1039.23 s.
TEST(Goodput, YoungsInterval) {
  EXPECT_NEAR(to_seconds(young_interval(30s, 5h)), 1039.23, 0.01);
}

// C / 2M = 1 / 1200: 1039.23 * (1 + 0.0288675 / 3 + 0.000833333 / 9) - 30 = 1019.33 s.
TEST(Goodput, DalysIntervalIsALittleShorter) {
  EXPECT_NEAR(to_seconds(daly_interval(30s, 5h)), 1019.326, 0.001);
}

TEST(Goodput, DalysIntervalIsTheMeanTimeWhereCheckpointsTakeTwiceThat) {
  EXPECT_EQ(daly_interval(200s, 100s), Duration(100s));
}

// M = 1000 s, stretch of 90 s and checkpoint of 10 s, no restart time: 1000 (e^0.1 - 1) =
// 105.1709 s per stretch.
TEST(Goodput, ExpectedTimeOfAStretch) {
  FailureModel model = model_of(1000s, 10s, {});
  model.interval_steps = 9;
  const Goodput goodput = expected(model);
  EXPECT_EQ(goodput.interval, Duration(90s));
  EXPECT_NEAR(goodput.useful, 90 / 105.1709, 1e-6);
  EXPECT_NEAR(goodput.checkpoint, 10 / 105.1709, 1e-6);
  EXPECT_NEAR(goodput.lost, 5.1709 / 105.1709, 1e-6);
  EXPECT_EQ(goodput.restart, 0);
  EXPECT_NEAR(goodput.failures_per_day, 86.4, 1e-9);
}

// One spare node, repairs as long as the mean time between failures: of the states none, one and
// two nodes in repair (1 : 1 : 1/2) the last one stands still, a fifth of the time.
TEST(Goodput, WithoutASpareNodeTheRunWaits) {
  FailureModel model = model_of(1000s, 10s, 20s);
  model.spare_nodes = 1;
  model.repair_time = 1000s;
  EXPECT_NEAR(expected(model).no_spare, 0.2, 1e-12);
  model.spare_nodes = 100;
  EXPECT_NEAR(expected(model).no_spare, 0, 1e-12);
}

TEST(Goodput, DalysIntervalBeatsOthers) {
  FailureModel model = model_of(5h, 30s, 300s);
  const Goodput best = expected(model);
  EXPECT_EQ(best.interval_steps, 102);
  for (const std::int64_t steps : {1, 20, 60, 90, 115, 200, 1000}) {
    model.interval_steps = steps;
    EXPECT_GT(best.useful, expected(model).useful) << steps << " steps";
  }
}

// A node that fails once in ten years is of no consequence, but is counted.
TEST(Goodput, MeanTimesOfYearsCount) {
  FailureModel model = model_of(5h, 30s, 300s);
  model.mtbf = MeanTime(10 * 365 * 86400.0);
  const Goodput goodput = expected(model);
  EXPECT_NEAR(goodput.failures_per_day, 1 / 3650.0, 1e-9);
  // sqrt(2 C M) = 137.6 ks between checkpoints, each of 30 s.
  EXPECT_NEAR(goodput.checkpoint, 30 / 137.6e3, 1e-6);
  EXPECT_NEAR(sum_of(goodput), 1, 1e-12);
}

// 10^5 failures: the lengths of the stretches between them are exponential, so that their mean is
// known to 0.3 %.  The shares that depend on it may differ by four times as much of themselves.
TEST(Goodput, SimulationAndExpectationAgree) {
  constexpr std::uint64_t kSeed = 20060201;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  constexpr std::int64_t kFailures = 100'000;
  FailureModel often = model_of(1000s, 20s, 100s);
  FailureModel repaired = often;
  repaired.repair_time = 1500s;
  repaired.spare_nodes = 1;
  FailureModel no_spares = repaired;
  no_spares.spare_nodes = 0;
  FailureModel rare = model_of(5h, 30s, 300s);
  FailureModel short_stretches = often;
  short_stretches.interval_steps = 1;
  for (const FailureModel& model : {often, repaired, no_spares, rare, short_stretches}) {
    const Goodput analytic = expected(model);
    const auto simulated = simulated_goodput(model, kFailures, kSeed);
    ASSERT_TRUE(simulated);
    constexpr double kRelative = 0.013;
    EXPECT_NEAR(simulated->useful, analytic.useful, kRelative * (1 - analytic.useful));
    EXPECT_NEAR(simulated->checkpoint, analytic.checkpoint, kRelative * analytic.checkpoint);
    EXPECT_NEAR(simulated->lost, analytic.lost, kRelative * analytic.lost);
    EXPECT_NEAR(simulated->restart, analytic.restart, kRelative * analytic.restart);
    EXPECT_NEAR(simulated->no_spare, analytic.no_spare, kRelative * analytic.no_spare);
    EXPECT_NEAR(simulated->failures_per_day,
                analytic.failures_per_day,
                kRelative * analytic.failures_per_day);
    EXPECT_NEAR(sum_of(*simulated), 1, 1e-9);
    EXPECT_NEAR(sum_of(analytic), 1, 1e-9);
  }
}

TEST(Goodput, OneSeedGivesOneRun) {
  const FailureModel model = model_of(1000s, 20s, 100s);
  EXPECT_EQ(simulated_goodput(model, 1000, 3), simulated_goodput(model, 1000, 3));
  EXPECT_NE(simulated_goodput(model, 1000, 3), simulated_goodput(model, 1000, 4));
}

TEST(Goodput, FreeCheckpointsAreTakenBehindEveryStep) {
  const Goodput goodput = expected(model_of(1h, {}, 60s));
  EXPECT_EQ(goodput.interval_steps, 1);
  EXPECT_EQ(goodput.checkpoint, 0);
}

TEST(Goodput, AStepLongerThanTheIntervalIsTheInterval) {
  FailureModel model = model_of(1h, 1s, 60s);
  model.step_time = 500s;
  EXPECT_EQ(expected(model).interval_steps, 1);
}

TEST(Goodput, WhatCannotBeIsRefused) {
  FailureModel model = model_of({}, 10s, 10s);
  ASSERT_FALSE(expected_goodput(model));
  EXPECT_EQ(expected_goodput(model).error().message,
            "the mean time between failures is 0 ps; it must be above zero");
  model = model_of(1s, 10s, 1000s);
  ASSERT_FALSE(expected_goodput(model));
  EXPECT_EQ(expected_goodput(model).error().code, ErrorCode::kInfeasible);
  model = model_of(1h, 10s, 10s);
  model.interval_steps = 0;
  ASSERT_FALSE(simulated_goodput(model, 1, 1));
  EXPECT_EQ(simulated_goodput(model, 1, 1).error().message,
            "a checkpoint every 0 steps; take 1 or more");
}

}  // namespace
}  // namespace stagewright
