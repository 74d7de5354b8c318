#include "sim/analysis/step_attribution.h"

#include <numeric>

#include <gtest/gtest.h>

#include "core/schedule/token_list.h"
#include "sim/analysis/list_timing.h"
#include "sim/analysis/list_trace.h"
#include "sim/analysis/trace_work.h"
#include "tests/support/pipeline_orders.h"

namespace stagewright {
namespace {

/// GPipe of 4 stages and 8 micro-batches: (8 + 3)(F + B) + 6 c.
Trace gpipe_trace(Duration forward, Duration backward, Duration transfer) {
  const TokenList list = token_list(test::gpipe(4, 8));
  const PipelineCosts costs{.forward = std::vector<Duration>(4, forward),
                            .backward = std::vector<Duration>(4, backward),
                            .transfer = std::vector<Duration>(4, transfer)};
  return list_trace(list, costs, time_list(list, costs));
}

std::vector<StepEffect> effects_between(const Trace& predicted, const Trace& measured) {
  return step_effects(work_of(predicted),
                      work_of(measured),
                      measured.step_times.front() - predicted.step_times.front());
}

constexpr Duration kForward{100};
constexpr Duration kBackward{200};

TEST(StepAttribution, APerfectPredictionHasNothingToExplain) {
  const Trace trace = gpipe_trace(kForward, kBackward, Duration(10));
  EXPECT_TRUE(effects_between(trace, trace).empty());
  EXPECT_TRUE(explain_difference({}, Duration{}).kinds.empty());
}

// 11 backwards and 11 forwards follow each other, and 6 messages.
TEST(StepAttribution, EveryKindGetsWhatItAddsToTheStep) {
  const Trace predicted = gpipe_trace(kForward, kBackward, Duration(10));
  const Trace measured =
      gpipe_trace(kForward - Duration(5), kBackward + Duration(30), Duration(20));
  const std::vector<StepEffect> expected = {{"backward", Duration(11 * 30)},
                                            {"transfer", Duration(6 * 10)},
                                            {"forward", Duration(11 * -5)}};
  const Duration difference(330 + 60 - 55);
  EXPECT_EQ(effects_between(predicted, measured), expected);
  // 330 / 335 is enough.
  const Explanation explanation = explain_difference(expected, difference);
  EXPECT_EQ(explanation.kinds, std::vector<std::string>{"backward"});
  EXPECT_NEAR(explanation.share, 330.0 / 335, 1e-12);
}

// What the forwards gain has the other sign, and explains nothing of a longer step.
TEST(StepAttribution, WhatWorksAgainstTheDifferenceDoesNotExplainIt) {
  const std::vector<StepEffect> effects = {{"forward", Duration(-50)},
                                           {"backward", Duration(45)},
                                           {"transfer", Duration(45)},
                                           {kUnexplained, Duration(60)}};
  const Explanation explanation = explain_difference(effects, Duration(100));
  EXPECT_EQ(explanation.kinds, (std::vector<std::string>{"backward", "transfer"}));
  EXPECT_NEAR(explanation.share, 0.9, 1e-12);
  const Explanation shorter = explain_difference(effects, Duration(-50));
  EXPECT_EQ(shorter.kinds, std::vector<std::string>{"forward"});
}

// The last stage began late, and nothing in the trace says why.
TEST(StepAttribution, LateStartsAreAKindOfTheirOwn) {
  const Trace predicted = gpipe_trace(kForward, kBackward, Duration(10));
  Trace measured = predicted;
  TimePoint last{};
  for (const TraceEvent& event : measured.events) {
    last = std::max(last, event.start);
  }
  for (TraceEvent& event : measured.events) {
    if (event.start == last) {
      event.start += Duration(40);
      event.ready = event.start;
      event.end += Duration(40);
    }
  }
  measured.step_times.front() += Duration(40);
  const std::vector<StepEffect> expected = {{kLateStarts, Duration(40)}};
  EXPECT_EQ(effects_between(predicted, measured), expected);
}

// Whatever cannot be told apart is said to be unexplained, so that the sum holds.
TEST(StepAttribution, EffectsAddUpToTheDifference) {
  const Trace predicted = gpipe_trace(kForward, kBackward, Duration(10));
  const Trace measured = gpipe_trace(kForward * 2, kBackward, Duration(4));
  const Duration difference =
      measured.step_times.front() - predicted.step_times.front() + Duration(7);
  const auto effects = step_effects(work_of(predicted), work_of(measured), difference);
  EXPECT_EQ(effects.back(), (StepEffect{kUnexplained, Duration(7)}));
  const Duration sum = std::accumulate(
      effects.begin(), effects.end(), Duration{}, [](Duration so_far, const StepEffect& effect) {
        return so_far + effect.effect;
      });
  EXPECT_EQ(sum, difference);
}

}  // namespace
}  // namespace stagewright
