#include "sim/engine/pipeline_timing.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/pipeline_orders.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::append;
using test::empty_order;
using test::forward_only;
using test::gpipe;
using test::one_forward_one_backward;

std::vector<Duration> same(std::int32_t stages, Duration cost) {
  return std::vector<Duration>(static_cast<std::size_t>(stages), cost);
}

PipelineTimer timer_of(const PipelineOrder& order) {
  Result<PipelineTimer> timer = PipelineTimer::make(order);
  EXPECT_TRUE(timer.has_value()) << (timer ? "" : timer.error().to_string());
  return *std::move(timer);
}

double batches_per_second(std::int32_t micro_batches, Duration makespan) {
  return micro_batches / to_seconds(makespan);
}

// Two stages of 0.1 s, M chunks: the first stage works for M * 0.1 s without a pause and the last
// chunk needs another 0.1 s in the second: (M + 1) * 0.1 s.
TEST(PipelineTiming, ForwardOfFourChunksOverTwoEqualStagesTakesHalfASecond) {
  const PipelineCosts costs{.forward = same(2, 100ms)};
  const Duration makespan = timer_of(forward_only(2, 4)).time(costs).makespan;
  EXPECT_EQ(makespan, Duration(500ms));
  EXPECT_DOUBLE_EQ(batches_per_second(4, makespan), 8.0);
}

TEST(PipelineTiming, MoreChunksRaiseTheThroughputOfTwoEqualStages) {
  const PipelineCosts costs{.forward = same(2, 100ms)};
  const Duration makespan = timer_of(forward_only(2, 10)).time(costs).makespan;
  EXPECT_EQ(makespan, Duration(1100ms));
  EXPECT_NEAR(batches_per_second(10, makespan), 9.09, 0.001);
}

// Stages of 0.2 s and 0.1 s, four chunks.  The textbook bound (chunks + stages - 1) * slowest =
// (4 + 2 - 1) * 0.2 s = 1.0 s takes every stage for as slow as the slowest, so it charges the
// filling and draining of the pipeline at 0.2 s a stage.  Only the slowest stage repeats: it works
// 4 * 0.2 s without a pause, and the last chunk then passes the second stage in 0.1 s, not 0.2 s.
// Exact: chunks * slowest + the other stages once = 0.8 s + 0.1 s = 0.9 s.
TEST(PipelineTiming, UnequalStagesFinishBeforeTheTextbookBound) {
  const PipelineCosts costs{.forward = {200ms, 100ms}};
  const Duration makespan = timer_of(forward_only(2, 4)).time(costs).makespan;
  const Duration textbook = (4 + 2 - 1) * Duration(200ms);
  EXPECT_EQ(makespan, Duration(900ms));
  EXPECT_EQ(textbook, Duration(1000ms));
  EXPECT_LT(makespan, textbook);
}

// The same with the slow stage last: it starts after 0.1 s and never waits again.
TEST(PipelineTiming, UnequalStagesTakeTheSameInEitherOrder) {
  const PipelineCosts costs{.forward = {100ms, 200ms}};
  EXPECT_EQ(timer_of(forward_only(2, 4)).time(costs).makespan, Duration(900ms));
}

// The same for any stages: only the slowest repeats, (M - 1) * slowest + the sum of all.
TEST(PipelineTiming, ForwardTakesEveryStageOnceAndTheSlowestForEachFurtherChunk) {
  constexpr unsigned kSeed = 90210;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<std::int64_t> cost(0, 1'000'000);
  for (const std::int32_t stages : {1, 3, 8}) {
    for (const std::int32_t chunks : {1, 2, 17}) {
      PipelineCosts costs;
      Duration sum{};
      Duration slowest{};
      for (std::int32_t stage = 0; stage < stages; ++stage) {
        costs.forward.emplace_back(cost(random));
        sum += costs.forward.back();
        slowest = std::max(slowest, costs.forward.back());
      }
      EXPECT_EQ(timer_of(forward_only(stages, chunks)).time(costs).makespan,
                (chunks - 1) * slowest + sum);
    }
  }
}

struct Shape {
  std::int32_t ranks;
  std::int32_t micro_batches;
};

class EqualStages : public testing::TestWithParam<Shape> {};

// Equal stages, no transfers: filling and draining cost (P - 1)(F + B) beside the M (F + B) of work
// (Huang et al. 2019; Narayanan et al. 2021), for GPipe as for 1F1B.
TEST_P(EqualStages, TakeMPlusPMinusOneTimesForwardAndBackward) {
  const auto [ranks, micro_batches] = GetParam();
  const Duration forward = 7ms;
  const Duration backward = 13ms;
  const PipelineCosts costs{.forward = same(ranks, forward), .backward = same(ranks, backward)};
  const Duration expected = (micro_batches + ranks - 1) * (forward + backward);
  const double bubble = static_cast<double>(ranks - 1) / (micro_batches + ranks - 1);

  const PipelineTimer::Timing fill_drain = timer_of(gpipe(ranks, micro_batches)).time(costs);
  EXPECT_EQ(fill_drain.makespan, expected);
  EXPECT_NEAR(fill_drain.bubble(), bubble, 1e-12);

  const PipelineTimer::Timing interleaved =
      timer_of(one_forward_one_backward(ranks, micro_batches)).time(costs);
  EXPECT_EQ(interleaved.makespan, expected);
  EXPECT_NEAR(interleaved.bubble(), bubble, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         EqualStages,
                         testing::Values(Shape{1, 1},
                                         Shape{1, 5},
                                         Shape{2, 1},
                                         Shape{2, 4},
                                         Shape{4, 2},
                                         Shape{4, 8},
                                         Shape{8, 8},
                                         Shape{8, 64}));

// GPipe with transfers of c: the first chunk's way down and the last gradient's way up pass P - 1
// borders each, all else is hidden: (M + P - 1)(F + B) + 2 (P - 1) c.
TEST(PipelineTiming, GpipeShowsEachTransferOnceOnTheWayDownAndUp) {
  const PipelineCosts costs{
      .forward = same(4, 10ms), .backward = same(4, 20ms), .transfer = same(3, 1ms)};
  EXPECT_EQ(timer_of(gpipe(4, 8)).time(costs).makespan, Duration((8 + 3) * 30ms + 2 * 3 * 1ms));
}

// 1F1B keeps no more micro-batches in flight than the round trip is long, so that transfers show in
// every period: F + B + 2 (P - 1) c / P in the long run.
TEST(PipelineTiming, OneForwardOneBackwardPaysForTransfersInEveryPeriod) {
  constexpr std::int32_t kRanks = 4;
  const PipelineCosts costs{.forward = same(kRanks, 100ms),
                            .backward = same(kRanks, 200ms),
                            .transfer = same(kRanks - 1, 10ms)};
  const Duration short_run = timer_of(one_forward_one_backward(kRanks, 64)).time(costs).makespan;
  const Duration long_run =
      timer_of(one_forward_one_backward(kRanks, 64 + 40)).time(costs).makespan;
  EXPECT_EQ((long_run - short_run) / 40, Duration(300ms + 2 * 3 * 10ms / kRanks));
}

// Two ranks, one micro-batch, a split backward.  Rank 1: F 0-10 after the arrival at 13; input half
// 23-30; its weight half 30-35.  Rank 0 gets the gradient at 33, not at 38.
TEST(PipelineTiming, GradientLeavesBeforeTheWeightHalf) {
  PipelineOrder order = forward_only(2, 1);
  append(order, ActionKind::kBackwardInput, 1, 0);
  append(order, ActionKind::kBackwardWeight, 1, 0);
  append(order, ActionKind::kBackwardInput, 0, 0);
  append(order, ActionKind::kBackwardWeight, 0, 0);
  const PipelineCosts costs{.forward = same(2, 10ms),
                            .backward_input = same(2, 7ms),
                            .backward_weight = same(2, 5ms),
                            .transfer = {3ms}};
  const PipelineTimer::Timing timing = timer_of(order).time(costs);
  const std::vector<std::vector<Duration>> starts = {{0ms, 33ms, 40ms}, {13ms, 23ms, 30ms}};
  EXPECT_EQ(timing.start, starts);
  EXPECT_EQ(timing.makespan, Duration(45ms));
  EXPECT_EQ(timing.busy, (std::vector<Duration>{22ms, 22ms}));
}

// A recomputation before its backward runs while the gradient is on its way: rank 0 recomputes
// 10-18 and then waits until 33.
TEST(PipelineTiming, RecomputationRunsInTheWaitForTheGradient) {
  PipelineOrder order = forward_only(2, 1);
  append(order, ActionKind::kBackward, 1, 0);
  append(order, ActionKind::kRecompute, 0, 0);
  append(order, ActionKind::kBackward, 0, 0);
  const PipelineCosts costs{.forward = same(2, 10ms),
                            .backward = same(2, 7ms),
                            .recompute = same(2, 8ms),
                            .transfer = {3ms}};
  const std::vector<std::vector<Duration>> starts = {{0ms, 10ms, 33ms}, {13ms, 23ms}};
  EXPECT_EQ(timer_of(order).time(costs).start, starts);
}

// Both virtual stages on one rank: handing over costs nothing.
TEST(PipelineTiming, NothingIsTransferredWithinARank) {
  PipelineOrder order;
  order.stages = 2;
  order.micro_batches = 1;
  order.placement = {{0, 0}};
  order.ranks.resize(1);
  for (const std::int32_t stage : {0, 1}) {
    order.ranks[0].push_back(test::compute_action(ActionKind::kForward, stage, 0));
  }
  const PipelineCosts costs{.forward = {3ms, 4ms}, .transfer = {100ms}};
  EXPECT_EQ(timer_of(order).time(costs).makespan, Duration(7ms));
}

TEST(PipelineTiming, EmptyOrderTakesNoTime) {
  const PipelineTimer::Timing timing = timer_of(empty_order(2, 1)).time({});
  EXPECT_EQ(timing.makespan, Duration(0));
  EXPECT_EQ(timing.bubble(), 0);
}

TEST(PipelineTiming, ReusedScratchGivesTheSameMakespan) {
  const PipelineTimer timer = timer_of(one_forward_one_backward(4, 8));
  constexpr unsigned kSeed = 20240607;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<std::int64_t> cost(1, 1'000'000);
  PipelineTimer::Scratch scratch;
  for (int round = 0; round < 10; ++round) {
    PipelineCosts costs;
    for (int stage = 0; stage < 4; ++stage) {
      costs.forward.emplace_back(cost(random));
      costs.backward.emplace_back(cost(random));
      costs.transfer.emplace_back(cost(random));
    }
    EXPECT_EQ(timer.makespan(costs, scratch), timer.time(costs).makespan);
  }
}

std::string error_of(const PipelineOrder& order) {
  const Result<PipelineTimer> timer = PipelineTimer::make(order);
  return timer ? "no error" : timer.error().to_string();
}

TEST(PipelineTiming, MissingForwardIsNamed) {
  PipelineOrder order = empty_order(2, 1);
  append(order, ActionKind::kForward, 1, 0);
  EXPECT_EQ(error_of(order),
            "rank 1, action 1F0: the forward of the stage before stands nowhere in the order");
}

TEST(PipelineTiming, DoubledActionIsNamed) {
  PipelineOrder order = forward_only(1, 2);
  append(order, ActionKind::kForward, 0, 1);
  EXPECT_EQ(error_of(order), "rank 0, action 0F1: the action stands twice");
}

// Rank 0 puts a backward before the forward that it needs.
TEST(PipelineTiming, ActionsThatWaitForEachOtherAreNamed) {
  PipelineOrder order = empty_order(1, 1);
  append(order, ActionKind::kBackward, 0, 0);
  append(order, ActionKind::kForward, 0, 0);
  EXPECT_EQ(error_of(order),
            "deadlock: rank 0 action 0 (0B0) waits for rank 0 action 1 (0F0), which is reached "
            "only after rank 0 action 0 (0B0)");
}

TEST(PipelineTiming, StageOutOfRangeIsRejected) {
  PipelineOrder order = forward_only(2, 1);
  order.stages = 1;
  EXPECT_EQ(error_of(order), "rank 1, action 1F0: the order has 1 stage and 1 micro-batch");
}

}  // namespace
}  // namespace stagewright
