#include "core/trace/optimizer_waits.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using namespace std::chrono_literals;

TraceEvent step_of(std::int32_t rank, Duration start, Duration end) {
  TraceEvent event{.rank = RankId(rank), .action_index = 7, .action = ActionKind::kOptimizerStep};
  event.start = TimePoint(start);
  event.end = TimePoint(end);
  return event;
}

TraceEvent part_of(TraceEvent step, OpKind op, Duration ready, Duration start, Duration end) {
  step.op_index = 0;
  step.op = op;
  step.ready = TimePoint(ready);
  step.start = TimePoint(start);
  step.end = TimePoint(end);
  return step;
}

WorkedStretch stretch(Duration start, Duration end) {
  return {TimePoint(start), TimePoint(end)};
}

TEST(OptimizerWaits, OfAMeasuredStepAreTheStretchesInWhichNoneOfItsOperationsRuns) {
  Trace trace;
  trace.measured = true;
  const TraceEvent step = step_of(0, 10us, 100us);
  trace.events = {step,
                  part_of(step, OpKind::kSquaredSum, 10us, 10us, 20us),
                  part_of(step, OpKind::kAllReduce, 22us, 60us, 62us),
                  part_of(step, OpKind::kAdamWStep, 64us, 64us, 100us)};
  const OptimizerWaits waits(trace);
  ASSERT_EQ(waits.of(step).size(), 1U) << "2 us pass until an operation begins";
  EXPECT_EQ(waits.of(step)[0].from, TimePoint(20us));
  EXPECT_EQ(waits.of(step)[0].to, TimePoint(60us));
  EXPECT_EQ(waits.worked(step), (std::vector{stretch(10us, 20us), stretch(60us, 100us)}));
  EXPECT_EQ(waits.worked_time(step), 50us);
}

TEST(OptimizerWaits, OfAPredictedStepAreToldByTheOperationsThatBeginLate) {
  Trace trace;
  const TraceEvent step = step_of(0, 10us, 100us);
  trace.events = {step,
                  part_of(step, OpKind::kSquaredSum, 20us, 40us, 45us),
                  part_of(step, OpKind::kAllReduce, 50us, 60us, 62us)};
  const OptimizerWaits waits(trace);
  EXPECT_EQ(waits.worked(step),
            (std::vector{stretch(10us, 20us), stretch(40us, 50us), stretch(60us, 100us)}));
  EXPECT_FALSE(waits.of(step)[0].for_members);
  EXPECT_TRUE(waits.of(step)[1].for_members);
}

TEST(OptimizerWaits, WhatIsComputedMeanwhileIsNoWait) {
  Trace trace;
  trace.measured = true;
  const TraceEvent step = step_of(0, 0us, 100us);
  trace.events = {step,
                  part_of(step, OpKind::kAdamWStep, 0us, 0us, 50us),
                  part_of(step, OpKind::kAllGather, 10us, 40us, 60us),
                  part_of(step, OpKind::kAdamWStep, 50us, 50us, 100us)};
  EXPECT_EQ(OptimizerWaits(trace).worked(step), std::vector{stretch(0us, 100us)});
}

TEST(OptimizerWaits, KnowsActionsApartByRankStepAndPlace) {
  Trace trace;
  trace.steps = 2;
  const TraceEvent waiting = step_of(1, 0us, 100us);
  TraceEvent later = waiting;
  later.step = 1;
  TraceEvent forward = step_of(0, 0us, 50us);
  forward.action = ActionKind::kForward;
  trace.events = {waiting,
                  part_of(waiting, OpKind::kAllReduce, 0us, 80us, 82us),
                  part_of(forward, OpKind::kAllReduce, 0us, 40us, 42us)};
  const OptimizerWaits waits(trace);
  EXPECT_EQ(waits.worked_time(waiting), 20us);
  EXPECT_EQ(waits.worked_time(later), 100us);
  EXPECT_EQ(waits.worked_time(step_of(0, 0us, 100us)), 100us);
  EXPECT_EQ(waits.worked_time(forward), 50us) << "a stage's own collectives count as its work";
}

TEST(OptimizerWaits, AnActionOfNoLengthHasOneStretch) {
  const TraceEvent step = step_of(0, 10us, 10us);
  EXPECT_EQ(OptimizerWaits(Trace{}).worked(step), std::vector{stretch(10us, 10us)});
}

}  // namespace
}  // namespace stagewright
