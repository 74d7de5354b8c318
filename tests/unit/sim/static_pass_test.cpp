#include "sim/engine/static_pass.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/schedule/semantics.h"
#include "fake_cost.h"
#include "sim/engine/pipeline_timing.h"
#include "test_devices.h"
#include "tests/support/pipeline_orders.h"
#include "tests/support/toy_schedule.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::FakeCost;

/// Nodes of `devices` round devices.
Cluster cluster_of(std::int32_t nodes, std::int32_t devices) {
  Cluster cluster;
  cluster.name = "toys";
  cluster.types = {test::round_device()};
  for (std::int32_t n = 0; n < nodes; ++n) {
    cluster.nodes.push_back({"", std::vector<std::int32_t>(static_cast<std::size_t>(devices), 0)});
  }
  return cluster;
}

/// Times of the toy schedule's operations.
struct ToyTimes {
  Duration forward{};
  Duration input_half{};
  Duration weight_half{};
  Duration update{};
  Duration reduce{};
  Duration transfer{};
};

/// Fills a cost model that knows a toy's operations by their flags.
void price(const ToyTimes& times, FakeCost& cost) {
  cost.compute = [times](const Operation& op) {
    if (op.kind == OpKind::kSgdStep) {
      return times.update;
    }
    if (op.transpose_b) {
      return times.input_half;
    }
    return op.transpose_a ? times.weight_half : times.forward;
  };
  cost.collective_time = times.reduce;
  cost.transfer_time = times.transfer;
}

Simulation simulated(const Schedule& schedule,
                     const ToyTimes& times,
                     SimulationOptions options = {}) {
  FakeCost cost;
  price(times, cost);
  options.trace = TraceDetail::kOperations;
  const auto ranks = static_cast<std::int32_t>(schedule.ranks.size());
  auto simulation = simulate(schedule, cluster_of(1, ranks), cost, options);
  EXPECT_TRUE(simulation.has_value()) << (simulation ? "" : simulation.error().to_string());
  return simulation ? *std::move(simulation) : Simulation{};
}

using Times = std::vector<std::tuple<std::string, Duration, Duration>>;

/// Name, start and end of each action of a rank.
Times times_of(const Schedule& schedule, const Simulation& simulation, std::int32_t rank) {
  const ProgramId program = schedule.ranks[static_cast<std::size_t>(rank)].program;
  Times times;
  for (const TraceEvent& event : simulation.trace.events) {
    if (event.rank == RankId(rank) && !event.op_index) {
      times.emplace_back(to_string(schedule.programs[program.index()]
                                       .actions[static_cast<std::size_t>(event.action_index)]),
                         event.start.time_since_epoch(),
                         event.end.time_since_epoch());
    }
  }
  return times;
}

constexpr ToyTimes kTimes{.forward = 10us,
                          .input_half = 12us,
                          .weight_half = 8us,
                          .update = 5us,
                          .reduce = 25us,
                          .transfer = 3us};

// The last rank's input half ends at 13 + 10 + 12 = 35; its gradient leaves then, while the weight
// half runs to 43.  The second gradient: forward 43-53, input half to 65, weight half to 73.
TEST(StaticPass, OneForwardOneBackwardWithTransfers) {
  const Schedule schedule = toy_schedule(toy_1f1b(2, 2));
  ASSERT_TRUE(validate(schedule));
  const Simulation simulation = simulated(schedule, kTimes);
  const Times first = {{"0F0", 0us, 10us},
                       {"0SEND_F0", 10us, 13us},
                       {"0F1", 10us, 20us},
                       {"0SEND_F1", 20us, 23us},
                       {"0RECV_B0", 35us, 38us},
                       {"0B0", 38us, 58us},
                       {"0RECV_B1", 65us, 68us},
                       {"0B1", 68us, 88us}};
  const Times second = {{"1RECV_F0", 10us, 13us},
                        {"1F0", 13us, 23us},
                        {"1B0", 23us, 43us},
                        {"1SEND_B0", 35us, 38us},
                        {"1RECV_F1", 20us, 23us},
                        {"1F1", 43us, 53us},
                        {"1B1", 53us, 73us},
                        {"1SEND_B1", 65us, 68us}};
  EXPECT_EQ(times_of(schedule, simulation, 0), first);
  EXPECT_EQ(times_of(schedule, simulation, 1), second);
  EXPECT_EQ(simulation.summary.step_time, Duration(88us));
}

// Transfers of 30 us, forwards of 10 us.  The second send is issued when the first is complete, at
// 40, and with it everything behind it: the third forward starts at 40, not at 20.
TEST(StaticPass, SecondSendOnAChannelHoldsUpWhatFollows) {
  const Schedule schedule = toy_schedule(
      {"0F0 0SEND_F0 0F1 0SEND_F1 0F2 0SEND_F2", "1RECV_F0 1F0 1RECV_F1 1F1 1RECV_F2 1F2"});
  const ToyTimes times{.forward = 10us, .transfer = 30us};
  const Times held_up = {{"0F0", 0us, 10us},
                         {"0SEND_F0", 10us, 40us},
                         {"0F1", 10us, 20us},
                         {"0SEND_F1", 40us, 70us},
                         {"0F2", 40us, 50us},
                         {"0SEND_F2", 70us, 100us}};
  EXPECT_EQ(times_of(schedule, simulated(schedule, times), 0), held_up);

  const Times buffered = {{"0F0", 0us, 10us},
                          {"0SEND_F0", 10us, 40us},
                          {"0F1", 10us, 20us},
                          {"0SEND_F1", 40us, 70us},
                          {"0F2", 20us, 30us},
                          {"0SEND_F2", 70us, 100us}};
  EXPECT_EQ(times_of(schedule, simulated(schedule, times, {.buffered_sends = true}), 0), buffered);
}

// Each rank sends twice before it receives.  With unbuffered sends the second of each waits for the
// first, whose receive comes behind the other's second.
TEST(StaticPass, RanksThatWaitForEachOtherAreNamed) {
  const Schedule schedule = toy_schedule({"0SEND_F0 0SEND_F1 0RECV_B0 0RECV_B1 0F0 0F1",
                                          "1SEND_B0 1SEND_B1 1RECV_F0 1RECV_F1 1F0 1F1"});
  FakeCost cost;
  const auto simulation = simulate(schedule, cluster_of(1, 2), cost);
  ASSERT_FALSE(simulation);
  EXPECT_EQ(simulation.error().code, ErrorCode::kInfeasible);
  for (const char* place : {"rank 0 action 1 (0SEND_F1)", "rank 1 action 1 (1SEND_B1)"}) {
    EXPECT_NE(simulation.error().message.find(place), std::string::npos)
        << simulation.error().message;
  }
  EXPECT_TRUE(simulate(schedule, cluster_of(1, 2), cost, {.buffered_sends = true}));
}

TEST(StaticPass, MessageWithoutReceiverIsNamed) {
  const Schedule schedule = toy_schedule({"0F0 0SEND_F0", "1F0"});
  const auto simulation = simulate(schedule, cluster_of(1, 2), FakeCost());
  ASSERT_FALSE(simulation);
  EXPECT_EQ(simulation.error().to_string(),
            "rank 0, action 1 (0SEND_F0): the rank that it sends to does not receive this message");
}

TEST(StaticPass, DeviceOutsideTheClusterIsNamed) {
  const Schedule schedule = toy_schedule({"0F0"}, {.replicas = 2});
  const auto simulation = simulate(schedule, cluster_of(1, 1), FakeCost());
  ASSERT_FALSE(simulation);
  EXPECT_EQ(simulation.error().message,
            "rank 1 runs on device 1, but the cluster toys has 1 devices; use the cluster that the "
            "schedule was made for");
}

// Two stages on one rank, two replicas.  Stage 1's reduction (25 us) runs beside stage 0's
// backward (40-60); stage 0's follows on the same stream and ends at 40 + 50 = 90, where the
// update starts.  From 60 to 90 computation waits for reductions.
TEST(StaticPass, ReductionsOverlapWithLaterBackwards) {
  const Schedule schedule = toy_schedule({"0F0 1F0 1B0 REDUCE1 0B0 REDUCE0 STEP"}, {.replicas = 2});
  const Simulation simulation = simulated(schedule, kTimes);
  const Times times = {{"0F0", 0us, 10us},
                       {"1F0", 10us, 20us},
                       {"1B0", 20us, 40us},
                       {"REDUCE1", 40us, 65us},
                       {"0B0", 40us, 60us},
                       {"REDUCE0", 65us, 90us},
                       {"STEP", 90us, 100us}};
  EXPECT_EQ(times_of(schedule, simulation, 0), times);
  const std::map<std::string, Duration> exposed = {{"data", 30us}};
  EXPECT_EQ(simulation.summary.exposed, exposed);
}

// Stage 0 is reduced 60-85 and updated at once, stage 1 85-110 and updated then.
TEST(StaticPass, UpdateWaitsForTheReductionsThatItReads) {
  const Schedule schedule = toy_schedule({"0F0 1F0 1B0 0B0 REDUCE0 REDUCE1 STEP"}, {.replicas = 2});
  const Simulation simulation = simulated(schedule, kTimes);
  EXPECT_EQ(times_of(schedule, simulation, 0).back(), Times::value_type("STEP", 85us, 115us));
  EXPECT_EQ(simulation.summary.ranks[0].busy, Duration(2 * 10us + 2 * 20us + 2 * 5us));
  const std::map<std::string, Duration> exposed = {{"data", 25us + 20us}};
  EXPECT_EQ(simulation.summary.exposed, exposed);
}

Duration idle_for(const Simulation& simulation, std::size_t rank, BubbleCause cause) {
  return simulation.bubbles->ranks[rank].by_cause[static_cast<std::size_t>(cause)];
}

// The same: 45 of 115 are idle, all for the reductions.
TEST(StaticPass, WaitForReductionsIsIdleForCollectives) {
  const Schedule schedule = toy_schedule({"0F0 1F0 1B0 0B0 REDUCE0 REDUCE1 STEP"}, {.replicas = 2});
  const Simulation simulation = simulated(schedule, kTimes, {.explain = true});
  EXPECT_EQ(simulation.bubbles->ranks[0].idle, Duration(45us));
  EXPECT_EQ(idle_for(simulation, 0, BubbleCause::kCollective), Duration(45us));
}

// Rank 1 has nothing to update while rank 0 does.
TEST(StaticPass, WaitForTheUpdateOfOthersIsIdleForTheOptimizer) {
  const Schedule schedule =
      toy_schedule({"0F0 0SEND_F0 0RECV_B0 0B0 STEP", "1RECV_F0 1F0 1B0 1SEND_B0"});
  const ToyTimes times{.forward = 10us, .input_half = 20us, .update = 7us};
  const Simulation simulation = simulated(schedule, times, {.explain = true});
  EXPECT_EQ(simulation.summary.step_time, Duration(67us));
  EXPECT_EQ(idle_for(simulation, 1, BubbleCause::kOptimizer), Duration(7us));
  EXPECT_EQ(idle_for(simulation, 0, BubbleCause::kOptimizer), Duration{});
}

// Links that take 5 us instead of none make the step, and with it every rank's idle time, longer.
TEST(StaticPass, LongerStepBehindASlowLinkIsIdleForTransfers) {
  ToyTimes times{.forward = 10us, .input_half = 20us};
  const Schedule schedule = toy_schedule(toy_1f1b(4, 8));
  const Duration free_links = simulated(schedule, times).summary.step_time;
  times.transfer = 5us;
  const Simulation simulation = simulated(schedule, times, {.explain = true});
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(idle_for(simulation, rank, BubbleCause::kTransfer),
              simulation.summary.step_time - free_links);
  }
}

// Free links and no weight half: the same sums as for bare stages.
TEST(StaticPass, BareCostsGiveTheTimesOfThePipelineTimer) {
  for (const std::int32_t stages : {1, 2, 4}) {
    for (const std::int32_t micro_batches : {1, 3, 8}) {
      const Schedule schedule = toy_schedule(toy_1f1b(stages, micro_batches));
      const ToyTimes times{.forward = 7us, .input_half = 13us};
      const auto count = static_cast<std::size_t>(stages);
      const PipelineCosts costs{.forward = std::vector<Duration>(count, times.forward),
                                .backward = std::vector<Duration>(count, times.input_half)};
      const auto timer = PipelineTimer::make(test::one_forward_one_backward(stages, micro_batches));
      ASSERT_TRUE(timer);
      EXPECT_EQ(simulated(schedule, times).summary.step_time, timer->time(costs).makespan);
    }
  }
}

// (M + P - 1)(F + B) = 11 * 20 us: with P = 4 and M = 8 each rank is busy for 8 of 11 parts.
TEST(StaticPass, BubbleIsTheIdleShareOfTheStep) {
  const ToyTimes times{.forward = 10us, .input_half = 10us};
  const Summary summary = simulated(toy_schedule(toy_1f1b(4, 8)), times).summary;
  EXPECT_EQ(summary.step_time, Duration(220us));
  EXPECT_NEAR(summary.bubble, 3.0 / 11, 1e-12);
  for (const RankSummary& rank : summary.ranks) {
    EXPECT_EQ(rank.busy, Duration(160us));
  }
}

// 4 tokens a micro-batch, 2 micro-batches, 3 replicas.
TEST(StaticPass, RatesAreThoseOfAllReplicas) {
  const ToyTimes times{.forward = 10us, .input_half = 10us};
  SimulationOptions options;
  options.model_flops = Flops(3 * 1e7);
  const Summary summary =
      simulated(toy_schedule(toy_1f1b(1, 2), {.replicas = 3}), times, options).summary;
  EXPECT_EQ(summary.step_time, Duration(40us));
  EXPECT_DOUBLE_EQ(summary.tokens_per_second, 24 / 40e-6);
  // fp32: 10 TFLOP/s a device; 3e7 FLOPs in 40 us on three of them.
  ASSERT_TRUE(summary.mfu);
  EXPECT_NEAR(*summary.mfu, 3e7 / (40e-6 * 3 * 10e12), 1e-12);
}

TEST(StaticPass, RepresentativesGiveTheTimesOfTheFullSimulation) {
  const Schedule schedule =
      toy_schedule({"0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1 REDUCE0 STEP",
                    "1RECV_F0 1F0 1B0 1SEND_B0 1RECV_F1 1F1 1B1 1SEND_B1 REDUCE0 STEP"},
                   {.replicas = 4});
  ASSERT_TRUE(validate(schedule));
  const Simulation few = simulated(schedule, kTimes, {.trace_all_ranks = true});
  const Simulation all =
      simulated(schedule, kTimes, {.representatives = false, .trace_all_ranks = true});
  EXPECT_EQ(few.summary.ranks.size(), 2U);
  EXPECT_EQ(all.summary.ranks.size(), 8U);
  EXPECT_EQ(few.trace, all.trace);
  EXPECT_EQ(few.summary.step_time, all.summary.step_time);
  EXPECT_EQ(few.summary.exposed, all.summary.exposed);
}

// One replica's pipeline crosses nodes, the other's does not: they are not alike, and the fast one
// waits for the slow one in the reduction.
TEST(StaticPass, RanksOnUnlikeLinksAreNotAlike) {
  Schedule schedule = toy_schedule(
      {"0F0 0SEND_F0 0RECV_B0 0B0 REDUCE0", "1RECV_F0 1F0 1B0 1SEND_B0 REDUCE0"}, {.replicas = 2});
  // Nodes of three devices: ranks 0 and 1 share one, ranks 2 and 3 do not.
  const auto cost = make_analytical_cost();
  const auto simulation = simulate(schedule, cluster_of(2, 3), *cost, {.trace_all_ranks = true});
  ASSERT_TRUE(simulation);
  EXPECT_EQ(simulation->summary.ranks.size(), 4U);
  const Times fast = times_of(schedule, *simulation, 1);
  const Times slow = times_of(schedule, *simulation, 3);
  EXPECT_LT(std::get<2>(fast[2]), std::get<2>(slow[2]));  // 1B0 ends earlier
  EXPECT_EQ(fast.back(), slow.back());                    // REDUCE0 at the same time
}

TEST(StaticPass, TraceHoldsOnlyTheFirstOfRanksAlikeUnlessAsked) {
  const Schedule schedule = toy_schedule({"0F0 0B0 REDUCE0 STEP"}, {.replicas = 4});
  const Simulation few = simulated(schedule, kTimes);
  EXPECT_TRUE(std::ranges::all_of(few.trace.events,
                                  [](const TraceEvent& event) { return event.rank == RankId(0); }));
  EXPECT_EQ(few.trace.ranks, 4);
  EXPECT_EQ(few.summary.ranks.front().alike, 4);
}

TEST(StaticPass, OperationsStandBehindTheirActionInIssueOrder) {
  const Schedule schedule = toy_schedule({"0F0 0B0"});
  const Simulation simulation = simulated(schedule, kTimes);
  std::vector<std::tuple<std::int32_t, std::optional<std::int32_t>, Duration, Duration>> events;
  for (const TraceEvent& event : simulation.trace.events) {
    events.emplace_back(event.action_index,
                        event.op_index,
                        event.start.time_since_epoch(),
                        event.end.time_since_epoch());
  }
  const decltype(events) expected = {{0, std::nullopt, 0us, 10us},
                                     {0, 0, 0us, 10us},
                                     {1, std::nullopt, 10us, 30us},
                                     {1, 0, 10us, 22us},
                                     {1, 1, 22us, 30us}};
  EXPECT_EQ(events, expected);
}

// A recomputation at the head of a backward runs while the gradient is on its way: with it the
// backward of rank 0 starts at 10 and waits from 20 to 38.
TEST(StaticPass, RecomputationInsideABackwardRunsBeforeTheGradientArrives) {
  Schedule schedule = toy_schedule({"0F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0"});
  StageProgram& stage = schedule.programs[0].stages[0];
  Operation again = stage.forward[0];
  again.outputs = {TensorId(schedule.programs[0].tensors.size())};
  TensorSpec copy = schedule.programs[0].tensors[stage.output->index()];
  copy.name = "again";
  schedule.programs[0].tensors.push_back(copy);
  stage.backward.insert(stage.backward.begin(), again);
  const Simulation simulation = simulated(schedule, kTimes);
  const Times times = times_of(schedule, simulation, 0);
  EXPECT_EQ(times.back(), Times::value_type("0B0", 10us, 58us));
  EXPECT_EQ(simulation.summary.ranks[0].busy, Duration(10us + 10us + 20us));
}

TEST(StaticPass, MemoryOfTheSummaryIsThatOfTheLifetimes) {
  const Schedule schedule = toy_schedule(toy_1f1b(3, 5));
  const Summary summary = simulated(schedule, kTimes).summary;
  const DeviceType device = test::round_device();
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const RankProgram& program = schedule.programs[rank];
    const MemoryPeaks peaks = memory_peaks(program, lifetimes(program));
    EXPECT_EQ(summary.ranks[rank].memory, peaks);
    EXPECT_EQ(summary.ranks[rank].device_memory, peaks.total + device.context);
    EXPECT_TRUE(summary.ranks[rank].fits);
  }
}

TEST(StaticPass, StepThatDoesNotFitIsMarked) {
  Cluster cluster = cluster_of(1, 1);
  cluster.types[0].memory = cluster.types[0].context + Bytes(100);
  const auto simulation = simulate(toy_schedule({"0F0 0B0"}), cluster, FakeCost());
  ASSERT_TRUE(simulation);
  EXPECT_FALSE(simulation->summary.fits);
  EXPECT_FALSE(simulation->summary.ranks[0].fits);
}

TEST(StaticPass, ScheduleWithoutRanksIsRejected) {
  EXPECT_EQ(simulate({}, cluster_of(1, 1), FakeCost()).error().code, ErrorCode::kInvalidInput);
}

TEST(StaticPass, SameInputGivesTheSameOutput) {
  const Schedule schedule = toy_schedule(toy_1f1b(4, 8), {.replicas = 2});
  const Simulation once = simulated(schedule, kTimes);
  const Simulation again = simulated(schedule, kTimes);
  EXPECT_EQ(once.trace, again.trace);
  EXPECT_EQ(once.summary, again.summary);
}

}  // namespace
}  // namespace stagewright
