#include "sim/analysis/bubble_causes.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "planner/schedules/registry.h"
#include "sim/analysis/list_timing.h"
#include "sim/analysis/list_trace.h"
#include "sim/analysis/order_work.h"
#include "sim/analysis/trace_work.h"
#include "tests/support/pipeline_orders.h"

namespace stagewright {
namespace {

using test::gpipe;
using test::one_forward_one_backward;

constexpr Duration kForward(10'000);
constexpr Duration kBackward(20'000);
constexpr Duration kBoth = kForward + kBackward;
constexpr double kTwoPoints = 0.02;

PipelineCosts equal_costs(std::int32_t stages) {
  const auto count = static_cast<std::size_t>(stages);
  return {.forward = std::vector<Duration>(count, kForward),
          .backward = std::vector<Duration>(count, kBackward),
          .transfer = std::vector<Duration>(count)};
}

StepWork work_of(const PipelineOrder& order, const PipelineCosts& costs) {
  return stagewright::work_of(order, compile(order).value(), costs);
}

double share(Duration part, Duration whole) {
  return to_seconds(part) / to_seconds(whole);
}

/// The share of one rank's time that it idles for a cause.
double share_of(const BubbleCauses& causes, std::size_t rank, BubbleCause cause) {
  return share(causes.ranks[rank].by_cause[static_cast<std::size_t>(cause)], causes.step_time);
}

double fill_and_drain(const BubbleCauses& causes) {
  return causes.share(BubbleCause::kWarmUp) + causes.share(BubbleCause::kCoolDown);
}

/// All causes but filling, draining and the one that was brought about.
double others(const BubbleCauses& causes, BubbleCause injected) {
  return causes.share() - fill_and_drain(causes) - causes.share(injected);
}

// 1F1B with P ranks and M chunks: (P - 1) of (M + P - 1) periods are filling and draining.
TEST(BubbleCauses, TooFewChunksShowAsWarmUpAndCoolDown) {
  const StepWork work = work_of(one_forward_one_backward(8, 4), equal_costs(8));
  const BubbleCauses causes = bubble_causes(work);
  EXPECT_NEAR(fill_and_drain(causes), 7.0 / 11, 1e-12);
  EXPECT_NEAR(causes.share(), 7.0 / 11, 1e-12);
}

// GPipe on rank r of P: r forwards pass before its first one, and (P - 1 - r)(F + B) between its
// last forward and its first backward; r backwards run after its last one.
TEST(BubbleCauses, FillingOfGpipeEndsWithTheFirstBackward) {
  constexpr std::int32_t kRanks = 4;
  const BubbleCauses causes = bubble_causes(work_of(gpipe(kRanks, 8), equal_costs(kRanks)));
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    const RankBubble& bubble = causes.ranks[static_cast<std::size_t>(rank)];
    EXPECT_EQ(bubble.by_cause[static_cast<std::size_t>(BubbleCause::kWarmUp)],
              rank * kForward + (kRanks - 1 - rank) * kBoth);
    EXPECT_EQ(bubble.by_cause[static_cast<std::size_t>(BubbleCause::kCoolDown)], rank * kBackward);
    EXPECT_EQ(bubble.idle, (kRanks - 1) * kBoth);
  }
}

// One stage takes half as long again: once the pipeline is full, every other rank waits 0.5 (F + B)
// a chunk for it.
TEST(BubbleCauses, SlowStageShowsAsImbalanceOnTheOtherRanks) {
  constexpr std::int32_t kRanks = 4;
  constexpr std::int32_t kChunks = 64;
  for (std::size_t slow = 0; slow < kRanks; ++slow) {
    PipelineCosts costs = equal_costs(kRanks);
    costs.forward[slow] = costs.forward[slow] * 3 / 2;
    costs.backward[slow] = costs.backward[slow] * 3 / 2;
    const BubbleCauses causes =
        bubble_causes(work_of(one_forward_one_backward(kRanks, kChunks), costs));
    const double expected = share((kChunks - 1) * kBoth / 2, causes.step_time);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      EXPECT_NEAR(
          share_of(causes, rank, BubbleCause::kImbalance), rank == slow ? 0 : expected, kTwoPoints);
    }
    EXPECT_NEAR(others(causes, BubbleCause::kImbalance), 0, 1e-12);
  }
}

// GPipe shows each transfer once on the way down and up.
TEST(BubbleCauses, SlowLinkShowsAsTransferInGpipe) {
  constexpr std::int32_t kRanks = 4;
  constexpr std::int32_t kChunks = 16;
  PipelineCosts costs = equal_costs(kRanks);
  costs.transfer[1] = 3 * kBoth;
  const BubbleCauses causes = bubble_causes(work_of(gpipe(kRanks, kChunks), costs));
  EXPECT_EQ(causes.step_time, (kChunks + kRanks - 1) * kBoth + 2 * costs.transfer[1]);
  EXPECT_NEAR(causes.share(BubbleCause::kTransfer),
              share(2 * costs.transfer[1], causes.step_time),
              kTwoPoints);
  EXPECT_NEAR(others(causes, BubbleCause::kTransfer), 0, 1e-12);
}

// 1F1B pays 2 (P - 1) c / P in every period of F + B.
TEST(BubbleCauses, SlowLinksShowAsTransferInEveryPeriod) {
  constexpr std::int32_t kRanks = 4;
  constexpr std::int32_t kChunks = 64;
  PipelineCosts costs = equal_costs(kRanks);
  const Duration transfer = kForward / 2;
  costs.transfer.assign(kRanks, transfer);
  const BubbleCauses causes =
      bubble_causes(work_of(one_forward_one_backward(kRanks, kChunks), costs));
  const Duration a_period = 2 * (kRanks - 1) * transfer / kRanks;
  EXPECT_NEAR(causes.share(BubbleCause::kTransfer),
              share(kChunks * a_period, causes.step_time),
              kTwoPoints);
  EXPECT_NEAR(others(causes, BubbleCause::kTransfer), 0, 1e-12);
}

// A rank that would have begun after F begins after ten periods instead: everything is later by the
// difference.
TEST(BubbleCauses, LateRankShowsAsWaitForAPeer) {
  constexpr std::int32_t kRanks = 4;
  constexpr std::int32_t kChunks = 32;
  PipelineCosts costs = equal_costs(kRanks);
  costs.late = {Duration{}, 10 * kBoth, Duration{}, Duration{}};
  const BubbleCauses causes =
      bubble_causes(work_of(one_forward_one_backward(kRanks, kChunks), costs));
  const Duration later = costs.late[1] - kForward;
  EXPECT_EQ(causes.step_time, (kChunks + kRanks - 1) * kBoth + later);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_NEAR(
        share_of(causes, rank, BubbleCause::kPeer), share(later, causes.step_time), kTwoPoints);
  }
  EXPECT_NEAR(others(causes, BubbleCause::kPeer), 0, 1e-12);
}

// Everything at once: each cause keeps the share that it has by construction.
TEST(BubbleCauses, CausesAreToldApart) {
  constexpr std::int32_t kRanks = 4;
  constexpr std::int32_t kChunks = 64;
  PipelineCosts costs = equal_costs(kRanks);
  costs.forward[3] = costs.forward[3] * 5 / 4;
  costs.backward[3] = costs.backward[3] * 5 / 4;
  costs.transfer[0] = 20 * kBoth;
  costs.late = {10 * kBoth, Duration{}, Duration{}, Duration{}};
  const BubbleCauses causes = bubble_causes(work_of(gpipe(kRanks, kChunks), costs));
  // The heavier stage costs the others a quarter of a period a chunk, the link its two transfers,
  // the late rank its delay.
  EXPECT_NEAR(share_of(causes, 0, BubbleCause::kImbalance),
              share((kChunks - 1) * kBoth / 4, causes.step_time),
              kTwoPoints);
  EXPECT_NEAR(share_of(causes, 0, BubbleCause::kTransfer),
              share(2 * costs.transfer[0], causes.step_time),
              kTwoPoints);
  EXPECT_NEAR(
      share_of(causes, 0, BubbleCause::kPeer), share(costs.late[0], causes.step_time), kTwoPoints);
}

/// A trace of such work: actions, and messages as their receivers saw them.
Trace trace_of(const StepWork& work) {
  const std::vector<Duration> starts = work.starts();
  Trace trace;
  trace.measured = true;
  trace.ranks = static_cast<std::int32_t>(work.ranks.size());
  trace.step_times = {work.makespan(starts)};
  for (std::size_t i = 0; i < work.pieces.size(); ++i) {
    const WorkPiece& piece = work.pieces[i];
    TraceEvent event;
    event.rank = work.ranks[static_cast<std::size_t>(piece.rank)].rank;
    event.stage = piece.stage;
    event.micro_batch = piece.micro_batch;
    event.start = TimePoint(starts[i]);
    event.end = TimePoint(starts[i] + work.durations[i]);
    event.ready = event.start;
    if (piece.kind == WorkKind::kForward || piece.kind == WorkKind::kBackward) {
      event.action_index = 2 * piece.action + 1;
      event.action =
          piece.kind == WorkKind::kForward ? ActionKind::kForward : ActionKind::kBackward;
    } else if (piece.kind == WorkKind::kTransfer) {
      const PipelineOrder order = one_forward_one_backward(trace.ranks, 64);
      const Action& action =
          order.ranks[static_cast<std::size_t>(piece.rank)][static_cast<std::size_t>(piece.action)];
      event.action_index = 2 * piece.action;
      event.action = action.kind == ActionKind::kForward ? ActionKind::kRecvActivation
                                                         : ActionKind::kRecvGradient;
    } else {
      continue;
    }
    trace.events.push_back(event);
  }
  return trace;
}

// The trace of a run knows no costs: they, the messages and the delay of a rank follow from it.
TEST(BubbleCauses, TraceGivesTheCausesOfTheWorkThatItShows) {
  constexpr std::int32_t kRanks = 4;
  PipelineCosts costs = equal_costs(kRanks);
  costs.backward[2] = costs.backward[2] * 5 / 4;
  costs.transfer.assign(kRanks, kForward / 2);
  costs.late = {Duration{}, 10 * kBoth, Duration{}, Duration{}};
  const StepWork work = work_of(one_forward_one_backward(kRanks, 64), costs);
  const StepWork traced = stagewright::work_of(trace_of(work));
  EXPECT_EQ(traced.makespan(traced.starts()), work.makespan(work.starts()));
  const BubbleCauses expected = bubble_causes(work);
  const BubbleCauses causes = bubble_causes(traced);
  EXPECT_EQ(causes.step_time, expected.step_time);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(causes.ranks[rank].idle, expected.ranks[rank].idle);
    for (int cause = 0; cause < kBubbleCauseCount; ++cause) {
      EXPECT_NEAR(share_of(causes, rank, static_cast<BubbleCause>(cause)),
                  share_of(expected, rank, static_cast<BubbleCause>(cause)),
                  kTwoPoints)
          << name_of(static_cast<BubbleCause>(cause)) << " of rank " << rank;
    }
  }
}

// Of every generator's lists, with overlapped pairs and unlike stages.
TEST(BubbleCauses, TraceOfAListGivesTheCausesOfItsOrder) {
  for (const ScheduleGenerator& generator : schedule_generators()) {
    const PipelineOrder order = generator
                                    .generate({.ranks = 4,
                                               .virtual_stages = generator.default_virtual_stages,
                                               .micro_batches = 16,
                                               .parameters = {}})
                                    .value();
    PipelineCosts costs = equal_costs(order.stages);
    costs.backward_input = costs.forward;
    costs.backward_weight = costs.forward;
    costs.forward.back() = costs.forward.back() * 3 / 2;
    costs.transfer.assign(costs.transfer.size(), kForward / 4);
    const TokenList list = token_list(order);
    const StepWork traced = stagewright::work_of(list_trace(list, costs, time_list(list, costs)));
    const BubbleCauses causes = bubble_causes(traced);
    const BubbleCauses expected = bubble_causes(work_of(order, costs));
    EXPECT_EQ(causes.step_time, expected.step_time) << generator.name;
    for (int i = 0; i < kBubbleCauseCount; ++i) {
      const auto cause = static_cast<BubbleCause>(i);
      EXPECT_NEAR(causes.share(cause), expected.share(cause), kTwoPoints)
          << name_of(cause) << " in " << generator.name;
    }
  }
}

TEST(BubbleCauses, SumUpToTheIdleTimeWhateverTheCosts) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto durations = [&random](std::size_t count, std::int64_t high) {
    std::vector<Duration> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.emplace_back(std::uniform_int_distribution<std::int64_t>(0, high)(random));
    }
    return all;
  };
  for (const ScheduleGenerator& generator : schedule_generators()) {
    const auto order = generator.generate({.ranks = 4,
                                           .virtual_stages = generator.default_virtual_stages,
                                           .micro_batches = 8,
                                           .parameters = {}});
    ASSERT_TRUE(order.has_value()) << generator.name;
    const PipelineGraph graph = compile(*order).value();
    const auto stages = static_cast<std::size_t>(order->stages);
    for (int i = 0; i < 20; ++i) {
      const std::vector<Duration> late = durations(4, i % 2 == 0 ? 0 : 5000);
      const PipelineCosts costs{.forward = durations(stages, 1000),
                                .backward = durations(stages, 2000),
                                .backward_input = durations(stages, 1000),
                                .backward_weight = durations(stages, 1000),
                                .recompute = durations(stages, 1000),
                                .transfer = durations(stages, 500),
                                .late = late};
      std::vector<Duration> lags;
      price_lags(graph, costs, lags);
      std::vector<Duration> of_index(graph.graph.size());
      for (const SweepIndex index : graph.index) {
        of_index[static_cast<std::size_t>(index)] = durations(1, 1000).front();
      }
      const StepWork work = stagewright::work_of(*order, graph, lags, of_index);
      const BubbleCauses causes = bubble_causes(work);
      EXPECT_EQ(causes.step_time, work.makespan(work.starts()));
      for (std::size_t rank = 0; rank < causes.ranks.size(); ++rank) {
        const RankBubble& bubble = causes.ranks[rank];
        EXPECT_EQ(bubble.idle, causes.step_time - work.ranks[rank].busy);
        EXPECT_EQ(std::accumulate(bubble.by_cause.begin(), bubble.by_cause.end(), Duration{}),
                  bubble.idle);
        EXPECT_GE(*std::ranges::min_element(bubble.by_cause), Duration{}) << generator.name;
      }
    }
  }
}

TEST(BubbleCauses, NothingToDoIsNoBubble) {
  const BubbleCauses causes = bubble_causes(work_of(test::empty_order(2, 1), {}));
  EXPECT_EQ(causes.share(), 0);
}

}  // namespace
}  // namespace stagewright
