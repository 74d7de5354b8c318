#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include "runtime/trainer/live_steps.h"
#include "runtime/trainer/sampled_batches.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

class LiveTrace : public testing::Test {
 protected:
  Result<RunReport> run_with(Duration interval) {
    const TokenData data = learnable_tokens();
    const SampledBatches batches(data, schedule_, 1);
    const std::vector<const Schedule*> schedules(schedule_.ranks.size(), &schedule_);
    RunOptions options;
    options.steps = 4;
    options.traced_steps = 2;
    options.live_interval = interval;
    options.on_live_trace = [this](const Trace& trace) {
      const std::lock_guard lock(mutex_);
      told_.push_back(trace);
    };
    options.on_step = [this](const StepProgress&) {
      const std::lock_guard lock(mutex_);
      steps_told_.push_back(told_.size());
    };
    return run(schedules, batches, options);
  }

  Schedule schedule_ =
      schedule_of(small_model(Style::kGpt, 2), {.name = "dp2_pp2", .dp = 2, .pp = 2}, sgd());
  std::mutex mutex_;  ///< the rank that ends a step last tells its trace, rank 0 its progress
  std::vector<Trace> told_;
  std::vector<std::size_t> steps_told_;  ///< traces there were when rank 0 ended each step
};

std::vector<TraceEvent> events_of(const Trace& trace, std::int32_t step) {
  std::vector<TraceEvent> events;
  for (TraceEvent event : trace.events) {
    if (event.step == step) {
      event.step = 0;
      events.push_back(event);
    }
  }
  return events;
}

TEST_F(LiveTrace, EachStepIsToldAsItStandsInTheTraceOfTheRun) {
  const auto report = run_with(Duration{});
  ASSERT_TRUE(report) << report.error().to_string();
  ASSERT_EQ(told_.size(), 4U);
  for (std::int32_t step = 0; step < 2; ++step) {
    const Trace& live = told_[static_cast<std::size_t>(step)];
    EXPECT_EQ(live.steps, 1);
    EXPECT_EQ(live.made_by.at("step"), std::to_string(step));
    EXPECT_EQ(live.ranks, 4);
    EXPECT_EQ(events_of(live, 0), events_of(report->trace, step));
    EXPECT_EQ(live.losses, std::vector{report->trace.losses[static_cast<std::size_t>(step)]});
  }
  // Steps that the trace leaves out are told all the same, and stay out of it.
  EXPECT_FALSE(told_[3].events.empty());
  EXPECT_TRUE(events_of(report->trace, 3).empty());
  // Before the next step: when rank 0 ends one, all earlier ones are told.
  for (std::size_t step = 0; step < steps_told_.size(); ++step) {
    EXPECT_GE(steps_told_[step], step);
  }
}

TEST_F(LiveTrace, StepsThatFollowFasterThanTheIntervalAreLeftOut) {
  const auto report = run_with(std::chrono::hours(1));
  ASSERT_TRUE(report) << report.error().to_string();
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_.front().made_by.at("step"), "0");
}

}  // namespace
}  // namespace stagewright
