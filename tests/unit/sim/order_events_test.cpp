#include "sim/engine/order_events.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner/schedules/registry.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/pipeline_timing.h"
#include "tests/support/pipeline_orders.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;

PipelineCosts random_costs(std::mt19937& random, std::int32_t stages, std::int64_t shortest) {
  std::uniform_int_distribution<std::int64_t> time(shortest, 1'000'000);
  PipelineCosts costs;
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    for (auto* of_kind : {&costs.forward,
                          &costs.backward,
                          &costs.backward_input,
                          &costs.backward_weight,
                          &costs.recompute,
                          &costs.transfer}) {
      of_kind->emplace_back(time(random));
    }
  }
  return costs;
}

using RankTimes = std::vector<std::vector<Duration>>;

/// Ends of all actions by rank.
RankTimes ends_of(const PipelineOrder& order, const EventTimes& times) {
  RankTimes ends;
  std::size_t node = 0;
  for (const std::vector<Action>& actions : order.ranks) {
    std::vector<Duration>& of_rank = ends.emplace_back();
    for (std::size_t i = 0; i < actions.size(); ++i, ++node) {
      of_rank.push_back(times.end[node]);
    }
  }
  return ends;
}

EventTimes event_times(const PipelineOrder& order,
                       const PipelineCosts& costs,
                       const OrderEventOptions& options = {},
                       const EventOptions& event = {}) {
  const auto graph = order_events(order, costs, options);
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().to_string());
  return graph ? EventEngine(*graph, event).run(graph->alone) : EventTimes{};
}

/// Orders of all schedules that allow these sizes.
std::vector<PipelineOrder> orders_of(std::int32_t ranks, std::int32_t micro_batches) {
  std::vector<PipelineOrder> orders;
  for (const ScheduleGenerator& schedule : schedule_generators()) {
    for (const std::int32_t virtual_stages : {1, 2, 3}) {
      const auto order = schedule.generate({.ranks = ranks,
                                            .virtual_stages = virtual_stages,
                                            .micro_batches = micro_batches,
                                            .parameters = {}});
      if (order) {
        orders.push_back(*order);
      }
    }
  }
  return orders;
}

// Where nothing contends, event engine and static pass give the same times, to the picosecond.
TEST(OrderEvents, EveryScheduleTakesTheTimesOfTheStaticPass) {
  constexpr unsigned kSeed = 31415;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  int compared = 0;
  for (const auto& [ranks, micro_batches] :
       {std::pair{1, 3}, std::pair{2, 4}, std::pair{4, 8}, std::pair{4, 12}, std::pair{5, 11}}) {
    for (const PipelineOrder& order : orders_of(ranks, micro_batches)) {
      PipelineCosts costs = random_costs(random, order.stages, 0);
      costs.overlap = 0.8;
      costs.late.resize(order.ranks.size());
      costs.late[random() % order.ranks.size()] =
          Duration(static_cast<std::int64_t>(random() % 5'000'000));
      const auto timer = PipelineTimer::make(order);
      ASSERT_TRUE(timer) << timer.error().to_string();
      const PipelineTimer::Timing expected = timer->time(costs);
      const EventTimes times = event_times(order, costs);
      EXPECT_EQ(ends_of(order, times), expected.end);
      EXPECT_EQ(times.makespan, expected.makespan);
      ++compared;
    }
  }
  EXPECT_GT(compared, 40);
}

// A transfer is shorter than any computation, so that messages of one rank never meet: they go
// through the ports and the queue, and nothing changes.
TEST(OrderEvents, MessagesThatShareAPortWithoutMeetingTakeTheTimesOfTheStaticPass) {
  constexpr unsigned kSeed = 27182;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  for (const std::int32_t ranks : {2, 3, 7}) {
    const PipelineOrder order = test::forward_only(ranks, 13);
    PipelineCosts costs = random_costs(random, ranks, 1000);
    std::uniform_int_distribution<std::int64_t> transfer(1, 1000);
    for (Duration& time : costs.transfer) {
      time = Duration(transfer(random));
    }
    const auto graph = order_events(order, costs, {.links = OrderLinks::kPorts});
    ASSERT_TRUE(graph);
    EXPECT_TRUE(may_contend(*graph));
    EXPECT_EQ(ends_of(order, EventEngine(*graph).run(graph->alone)),
              PipelineTimer::make(order)->time(costs).end);
  }
}

// Sharing never makes anything earlier: every rank keeps its order.
TEST(OrderEvents, SharedPortsNeverMakeAnActionEarlier) {
  constexpr unsigned kSeed = 16180;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  int slower = 0;
  for (const PipelineOrder& order : orders_of(4, 8)) {
    const PipelineCosts costs = random_costs(random, order.stages, 0);
    const EventTimes alone = event_times(order, costs);
    const EventTimes shared = event_times(order, costs, {.links = OrderLinks::kPorts});
    for (std::size_t node = 0; node < alone.end.size(); ++node) {
      EXPECT_LE(alone.end[node], shared.end[node]);
    }
    slower += alone.makespan < shared.makespan ? 1 : 0;
  }
  EXPECT_GT(slower, 0);
}

// Two ranks in turn on one device would take 1F1B's whole work; P = 2, M = 1: nothing overlaps.
TEST(OrderEvents, OneMicroBatchTakesTheSameOnOneDeviceAsOnTwo) {
  const PipelineCosts costs{.forward = {10ms, 20ms}, .backward = {30ms, 40ms}};
  const PipelineOrder order = test::gpipe(2, 1);
  EXPECT_EQ(event_times(order, costs).makespan, Duration(100ms));
  EXPECT_EQ(event_times(order, costs, {.device_of_rank = {0, 0}}).makespan, Duration(100ms));
}

// Two ranks, F only, two micro-batches of 10 ms on one device: 40 ms of work on it.
TEST(OrderEvents, RanksOnOneDeviceTakeTheSumOfTheirWork) {
  const PipelineCosts costs{.forward = {10ms, 10ms}};
  const PipelineOrder order = test::forward_only(2, 2);
  EXPECT_EQ(event_times(order, costs).makespan, Duration(30ms));
  EXPECT_EQ(event_times(order, costs, {.device_of_rank = {0, 0}}).makespan, Duration(40ms));
}

TEST(OrderEvents, ABrokenOrderFailsAsItsTimerDoes) {
  PipelineOrder order = test::empty_order(2, 1);
  test::append(order, ActionKind::kForward, 1, 0);
  const auto graph = order_events(order, {.forward = {1ms, 1ms}});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error(), PipelineTimer::make(order).error());
}

TEST(OrderEvents, AnEmptyOrderTakesNoTime) {
  EXPECT_EQ(event_times(test::empty_order(2, 1), {}).makespan, Duration{});
}

}  // namespace
}  // namespace stagewright
