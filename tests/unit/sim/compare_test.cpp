#include "sim/analysis/compare.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/schedule/token_list.h"
#include "sim/analysis/list_timing.h"
#include "sim/analysis/list_trace.h"
#include "tests/support/pipeline_orders.h"
#include "toy_traces.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::measured_toy;
using test::predicted_toy;

Comparison compared(const Trace& predicted, const Trace& measured, CompareOptions options = {}) {
  const Result<Comparison> comparison = compare(predicted, measured, options);
  EXPECT_TRUE(comparison) << (comparison ? "" : comparison.error().to_string());
  return comparison ? *comparison : Comparison{};
}

/// Changes the length of an event of a trace in one step, or in all.
void stretch(Trace& trace,
             std::int32_t rank,
             std::int32_t action,
             std::optional<std::int32_t> op,
             Duration length,
             std::optional<std::int32_t> step = std::nullopt) {
  for (TraceEvent& event : trace.events) {
    if (event.rank == RankId(rank) && event.action_index == action && event.op_index == op &&
        (!step || event.step == *step)) {
      event.end = event.start + length;
    }
  }
}

TEST(Compare, PerfectPredictionHasNoErrors) {
  const Comparison comparison = compared(predicted_toy(), measured_toy(3));
  EXPECT_EQ(comparison.step, (TimePair{100us, 100us}));
  EXPECT_EQ(comparison.step_error, 0);
  EXPECT_EQ(comparison.repeat_spread, 0);
  EXPECT_EQ(comparison.measured_steps, 2);
  EXPECT_EQ(comparison.worst_error, 0);
  EXPECT_EQ(comparison.only_predicted, 0);
  EXPECT_EQ(comparison.only_measured, 0);
  for (const ActionComparison& action : comparison.worst) {
    EXPECT_EQ(action.duration.error(), 0);
  }
}

// The backwards were measured with 50 and 25 us for 40 and 30: together 70 for 75, in the mean
// (|40/50 - 1| + |30/25 - 1|) / 2 = (0.2 + 0.2) / 2.
TEST(Compare, ErrorsOfAKindAreSummedAndAveraged) {
  Trace measured = measured_toy(2);
  stretch(measured, 0, 2, std::nullopt, 50us);
  stretch(measured, 1, 1, std::nullopt, 25us);
  const Comparison comparison = compared(predicted_toy(), measured);
  const auto backward = std::ranges::find(comparison.actions, "backward", &KindComparison::kind);
  ASSERT_NE(backward, comparison.actions.end());
  EXPECT_EQ(backward->count, 2);
  EXPECT_EQ(backward->total, (TimePair{70us, 75us}));
  EXPECT_NEAR(backward->mean_absolute_error, 0.2, 1e-12);
  EXPECT_NEAR(comparison.worst_error, 5.0 / 75, 1e-12);
  // Largest difference first: rank 0's backward (10 us), then rank 1's (5 us).
  EXPECT_EQ(comparison.worst[0].rank, RankId(0));
  EXPECT_EQ(comparison.worst[0].action_index, 2);
  EXPECT_EQ(comparison.worst[0].duration, (TimePair{40us, 50us}));
  EXPECT_EQ(comparison.worst[1].rank, RankId(1));
  EXPECT_EQ(comparison.ranks[0].busy, (TimePair{60us, 70us}));
  EXPECT_EQ(comparison.ranks[1].busy, (TimePair{50us, 45us}));
}

// A message of 2 us that was predicted with 10: large for itself, but no 5 % of the busy time.
TEST(Compare, SmallKindsDoNotMakeTheWorstError) {
  Trace measured = measured_toy(2);
  stretch(measured, 0, 1, std::nullopt, 2us);
  EXPECT_EQ(compared(predicted_toy(), measured).worst_error, 0);
}

TEST(Compare, OperationsAreComparedByTheirKind) {
  Trace measured = measured_toy(2);
  stretch(measured, 0, 0, 0, 12us);
  const Comparison comparison = compared(predicted_toy(), measured);
  const auto gemm = std::ranges::find(comparison.operations, "gemm", &KindComparison::kind);
  ASSERT_NE(gemm, comparison.operations.end());
  EXPECT_EQ(gemm->total, (TimePair{15us, 12us}));
  EXPECT_EQ(comparison.operations.size(), 3U);
}

// Step times 900 (warming up), 80, 100, 120, 140, 160: median 120, quartiles 100 and 140.
TEST(Compare, StepTimeIsTheMedianAfterTheFirstWithItsSpread) {
  Trace measured = measured_toy(6);
  measured.step_times = {900us, 80us, 100us, 120us, 140us, 160us};
  const Comparison comparison = compared(predicted_toy(), measured);
  EXPECT_EQ(comparison.step, (TimePair{100us, 120us}));
  EXPECT_NEAR(comparison.step_error, -1.0 / 6, 1e-12);
  EXPECT_NEAR(comparison.repeat_spread, 20.0 / 120, 1e-12);
  EXPECT_EQ(comparison.measured_steps, 5);
}

// One of three steps that count was disturbed.
TEST(Compare, MediansOverStepsForgiveOneOutlier) {
  Trace measured = measured_toy(4);
  stretch(measured, 0, 2, std::nullopt, 1000us, 2);
  EXPECT_EQ(compared(predicted_toy(), measured).worst_error, 0);
}

TEST(Compare, MemoryIsComparedByClass) {
  Trace measured = measured_toy(2);
  for (MemorySample& sample : measured.memory) {
    Bytes& live = sample.live[static_cast<std::size_t>(TensorClass::kActivation)];
    live = live * 2;
  }
  const std::vector<MemoryComparison> expected = {
      {TensorClass::kParameter, Bytes(400), Bytes(400)},
      {TensorClass::kActivation, Bytes(300), Bytes(600)}};
  EXPECT_EQ(compared(predicted_toy(), measured).memory, expected);
}

TEST(Compare, EventsOfOneSideAloneAreCounted) {
  Trace predicted = predicted_toy();
  predicted.events.push_back(test::event(1, 7, ActionKind::kOptimizerStep, 90us, 95us));
  Trace measured = measured_toy(3);
  std::erase_if(measured.events, [](const TraceEvent& event) {
    return event.rank == RankId(0) && event.action_index == 0;
  });
  measured.events.push_back(test::event(5, 0, ActionKind::kForward, 0us, 5us));
  measured.events.back().step = 1;
  const Comparison comparison = compared(predicted, measured);
  EXPECT_EQ(comparison.only_predicted,
            1 + 3);  // the step, and rank 0's forward with its operations
  EXPECT_EQ(comparison.only_measured, 1);
  EXPECT_EQ(comparison.ranks.size(), 2U);
}

std::string error_of(const Trace& predicted, const Trace& measured, CompareOptions options = {}) {
  const Result<Comparison> comparison = compare(predicted, measured, options);
  return comparison ? "no error" : comparison.error().message;
}

TEST(Compare, UnlikeSchedulesAreRefusedUnlessForced) {
  Trace measured = measured_toy(2);
  measured.schedule_hash = "def";
  EXPECT_EQ(error_of(predicted_toy(), measured),
            "the traces come from unlike schedules: predicted abc, measured def; simulate the plan "
            "that was run, or force the comparison");
  EXPECT_EQ(error_of(predicted_toy(), measured, {.ignore_schedule_hash = true}), "no error");
}

TEST(Compare, TracesInTheWrongPlaceAreRefused) {
  EXPECT_EQ(error_of(measured_toy(2), measured_toy(2)),
            "the first trace is a measured one; give the predicted one first");
  EXPECT_EQ(error_of(predicted_toy(), predicted_toy()),
            "the second trace is a predicted one; give the measured one second");
}

TEST(Compare, TracesWithNothingInCommonAreRefused) {
  Trace measured = measured_toy(2);
  measured.events.clear();
  EXPECT_EQ(
      error_of(predicted_toy(), measured),
      "no action of the one trace is in the other: they come from unlike runs, or one of them "
      "holds no events");
  measured.step_times.clear();
  EXPECT_EQ(error_of(predicted_toy(), measured), "the measured trace holds no step");
}

// The backward began 3 us late, and took 10 us longer.
TEST(Compare, AnActionsErrorIsItsOwnAndWhatItInherited) {
  Trace measured = measured_toy(2);
  for (TraceEvent& event : measured.events) {
    if (event.rank == RankId(0) && event.action_index == 2) {
      event.start += 3us;
      event.end += 13us;
    }
  }
  const Comparison comparison = compared(predicted_toy(), measured);
  const ActionComparison& worst = comparison.worst.front();
  EXPECT_EQ(worst.action_index, 2);
  EXPECT_EQ(worst.start, (TimePair{50us, 53us}));
  EXPECT_EQ(worst.own_error(), -10us);
  EXPECT_EQ(worst.inherited_error(), -3us);
}

TEST(Compare, MemoryOfEveryRankIsCompared) {
  Trace measured = measured_toy(2);
  for (MemorySample& sample : measured.memory) {
    sample.live[static_cast<std::size_t>(TensorClass::kGradient)] = Bytes(50);
  }
  const Comparison comparison = compared(predicted_toy(), measured);
  EXPECT_EQ(comparison.ranks[0].predicted_memory, Bytes(700));
  EXPECT_EQ(comparison.ranks[0].measured_memory, Bytes(750));
}

TEST(Compare, SaysByWhichClocks) {
  Trace predicted = predicted_toy();
  predicted.clock = "model";
  Trace measured = measured_toy(2);
  measured.clock = "virtual";
  const auto json = nlohmann::json::parse(to_json_text(compared(predicted, measured)));
  EXPECT_EQ(json["predicted_clock"], "model");
  EXPECT_EQ(json["measured_clock"], "virtual");
}

// The last backward of rank 0 is what the step ends with.
TEST(Compare, TheStepsErrorIsDividedByKindsOfWork) {
  Trace measured = measured_toy(2);
  stretch(measured, 0, 2, std::nullopt, 90us);
  measured.step_times = {140us, 140us};
  const Comparison comparison = compared(predicted_toy(), measured);
  ASSERT_FALSE(comparison.effects.empty());
  EXPECT_EQ(comparison.effects.front(), (StepEffect{"backward", 40us}));
  const auto json = nlohmann::json::parse(to_json_text(comparison));
  EXPECT_EQ(json["step_effects"][0]["kind"], "backward");
  EXPECT_NEAR(json["step_effects"][0]["effect_s"].get<double>(), 40e-6, 1e-12);
}

TEST(Compare, JsonHoldsTimesInSecondsAndErrorsAsFractions) {
  Trace measured = measured_toy(2);
  stretch(measured, 0, 2, std::nullopt, 50us);
  const Comparison comparison = compared(predicted_toy(), measured, {.worst = 1});
  const nlohmann::json json = nlohmann::json::parse(to_json_text(comparison));
  EXPECT_EQ(json["step"]["predicted_s"], 1e-4);
  EXPECT_EQ(json["worst"].size(), 1U);
  EXPECT_EQ(json["worst"][0]["kind"], "backward");
  EXPECT_NEAR(json["worst"][0]["duration"]["error"].get<double>(), -0.2, 1e-12);
  EXPECT_EQ(json["memory"][0]["class"], "parameter");
  EXPECT_EQ(json["ranks"][1]["rank"], 1);
}

// Predicted with free links, measured with slow ones: (M + P - 1)(F + B) = 330 of which each rank
// works 8 * 30, and 2 (P - 1) c = 60 more.
TEST(Compare, ShowsWhyRanksWereIdleInBoth) {
  const TokenList list = token_list(test::gpipe(4, 8));
  PipelineCosts costs{.forward = std::vector<Duration>(4, Duration(10)),
                      .backward = std::vector<Duration>(4, Duration(20)),
                      .transfer = std::vector<Duration>(4)};
  const Trace predicted = list_trace(list, costs, time_list(list, costs));
  costs.transfer.assign(4, Duration(10));
  Trace measured = list_trace(list, costs, time_list(list, costs));
  measured.measured = true;
  const Comparison comparison = compared(predicted, measured);
  const auto row = [&comparison](BubbleCause cause) {
    const auto found = std::ranges::find(comparison.causes, cause, &CauseComparison::cause);
    return found == comparison.causes.end() ? CauseComparison{cause} : *found;
  };
  EXPECT_EQ(row(BubbleCause::kTransfer).predicted, 0);
  EXPECT_NEAR(row(BubbleCause::kTransfer).measured, 60.0 / 390, 1e-12);
  const CauseComparison warm_up = row(BubbleCause::kWarmUp);
  const CauseComparison cool_down = row(BubbleCause::kCoolDown);
  EXPECT_NEAR(warm_up.predicted + cool_down.predicted, 90.0 / 330, 1e-12);
  EXPECT_NEAR(warm_up.measured + cool_down.measured, 90.0 / 390, 1e-12);
}

}  // namespace
}  // namespace stagewright
