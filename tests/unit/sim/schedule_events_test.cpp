#include "sim/engine/schedule_events.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fake_cost.h"
#include "plan_cases.h"
#include "planner/lower/lower.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/static_pass.h"
#include "test_devices.h"
#include "tests/support/tiny_models.h"
#include "tests/support/toy_schedule.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::FakeCost;
using test::PlanCase;

/// First start and last end of every rank's actions.
using ActionTimes = std::map<std::pair<std::int32_t, std::int32_t>, std::pair<Duration, Duration>>;

ActionTimes static_times(const Schedule& schedule, const Cluster& cluster, const CostModel& cost) {
  const auto simulation = simulate(
      schedule,
      cluster,
      cost,
      {.representatives = false, .trace = TraceDetail::kOperations, .trace_all_ranks = true});
  EXPECT_TRUE(simulation) << (simulation ? "" : simulation.error().to_string());
  ActionTimes times;
  if (simulation) {
    for (const TraceEvent& event : simulation->trace.events) {
      if (event.op_index || is_send(event.action) || is_receive(event.action)) {
        const auto [found, is_new] = times.try_emplace({event.rank.value(), event.action_index},
                                                       event.start.time_since_epoch(),
                                                       event.end.time_since_epoch());
        found->second.first = std::min(found->second.first, event.start.time_since_epoch());
        found->second.second = std::max(found->second.second, event.end.time_since_epoch());
      }
    }
  }
  return times;
}

ActionTimes event_times(const Schedule& schedule, const Cluster& cluster, const CostModel& cost) {
  const auto events = schedule_events(schedule, cluster, cost);
  EXPECT_TRUE(events) << (events ? "" : events.error().to_string());
  ActionTimes result;
  if (!events) {
    return result;
  }
  EventEngine engine(events->graph);
  const EventTimes& times = engine.run(events->graph.alone);
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const auto actions =
        static_cast<std::size_t>(events->action_begin[rank + 1] - events->action_begin[rank]);
    for (std::size_t i = 0; i < actions; ++i) {
      for (const NodeIndex node : events->nodes_of(RankId(rank), i)) {
        const Duration start = times.start[static_cast<std::size_t>(node)];
        const Duration end = times.end[static_cast<std::size_t>(node)];
        const auto [found, is_new] = result.try_emplace(
            {static_cast<std::int32_t>(rank), static_cast<std::int32_t>(i)}, start, end);
        found->second.first = std::min(found->second.first, start);
        found->second.second = std::max(found->second.second, end);
      }
    }
  }
  return result;
}

class ScheduleEventsOfPlans : public testing::TestWithParam<PlanCase> {};

// Links so wide that nothing contends: the times of the static pass.
TEST_P(ScheduleEventsOfPlans, TakeTheTimesOfTheStaticPass) {
  for (const ModelGraph& model : {tiny_gpt(4), tiny_llama(4)}) {
    Cluster cluster = gpu_cluster(2);
    cluster.types[0].intra_node.bandwidth = BytesPerSecond(1e18);
    cluster.types[0].inter_node.bandwidth = BytesPerSecond(1e18);
    const auto schedule = test::lowered(GetParam(), model, cluster);
    ASSERT_TRUE(schedule) << schedule.error().to_string();
    for (const unsigned seed : {1U, 2U, 4U}) {
      SCOPED_TRACE(testing::Message() << model.name << ", seed " << seed);
      FakeCost cost;
      test::scatter(seed, 1us, cost);
      const ActionTimes expected = static_times(*schedule, cluster, cost);
      ASSERT_FALSE(expected.empty());
      EXPECT_EQ(event_times(*schedule, cluster, cost), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Plans,
                         ScheduleEventsOfPlans,
                         testing::ValuesIn(test::plan_cases()),
                         test::name_of_case);
INSTANTIATE_TEST_SUITE_P(PlansOnTwoNodes,
                         ScheduleEventsOfPlans,
                         testing::Values(PlanCase{"dp4pp4", {.dp = 4, .pp = 4}, 6}),
                         test::name_of_case);

/// Prices by size, as the analytical model has them for links.
Cluster round_cluster(std::int32_t nodes, std::int32_t devices, std::int32_t devices_per_nic) {
  Cluster cluster;
  cluster.name = "round";
  cluster.types = {test::round_device()};
  cluster.types[0].inter_node.devices_per_port = devices_per_nic;
  cluster.types[0].inter_node.latency = 5us;
  cluster.types[0].intra_node.latency = 1us;
  for (std::int32_t n = 0; n < nodes; ++n) {
    cluster.nodes.push_back({"", std::vector<std::int32_t>(static_cast<std::size_t>(devices), 0)});
  }
  return cluster;
}

/// Every message has rows * width * 4 bytes.
Schedule two_pipelines(std::int64_t width) {
  ToyOptions options;
  options.replicas = 2;
  options.rows = 1000;
  options.width = width;
  Schedule schedule = toy_schedule({"0F0 0SEND_F0", "1RECV_F0 1F0"}, options);
  return schedule;
}

/// Of each message, by its sender.
std::vector<Duration> message_times(const Schedule& schedule, const Cluster& cluster) {
  const auto cost = make_analytical_cost();
  const auto events = schedule_events(schedule, cluster, *cost);
  EXPECT_TRUE(events) << (events ? "" : events.error().to_string());
  EventEngine engine(events->graph);
  const EventTimes& times = engine.run(events->graph.alone);
  std::vector<Duration> lengths;
  for (std::size_t node = 0; node < events->graph.nodes(); ++node) {
    if (events->graph.kind[node] == EventGraph::Kind::kFlow) {
      lengths.push_back(times.end[node] - times.start[node]);
    }
  }
  return lengths;
}

/// Puts rank r on device devices[r].
void place(Schedule& schedule, const std::vector<std::int32_t>& devices) {
  ASSERT_EQ(schedule.ranks.size(), devices.size());
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    schedule.ranks[rank].device = DeviceId(devices[rank]);
  }
}

// Messages of 1000 * 2500 * 4 B = 10 MB: 1 ms over a NIC of 10 GB/s, 0.1 ms over a port of 100 GB/s
// inside a node; latency 5 us and 1 us.  Both pipelines send at the same moment.
TEST(ScheduleEvents, TwoMessagesOverOneNicTakeTwiceTheirBytes) {
  Schedule schedule = two_pipelines(2500);
  ASSERT_EQ(schedule.ranks.size(), 4U);
  // Which ranks are first stages: those that send.
  const auto sends = [&](std::size_t rank) {
    return is_send(schedule.programs[schedule.ranks[rank].program.index()].actions.back().kind);
  };
  std::vector<std::int32_t> devices;
  std::int32_t first = 0;
  std::int32_t second = 2;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    devices.push_back(sends(rank) ? first++ : second++);
  }
  place(schedule, devices);
  EXPECT_EQ(message_times(schedule, round_cluster(2, 2, 2)),
            (std::vector<Duration>{Duration(2005us), Duration(2005us)}));
  EXPECT_EQ(message_times(schedule, round_cluster(2, 2, 1)),
            (std::vector<Duration>{Duration(1005us), Duration(1005us)}));
  EXPECT_EQ(message_times(schedule, round_cluster(1, 4, 1)),
            (std::vector<Duration>{Duration(101us), Duration(101us)}));
}

// The same over a trunk of half the sum of its two NICs.
TEST(ScheduleEvents, TwoMessagesOverAnOversubscribedTrunkTakeTwiceTheirBytes) {
  Schedule schedule = two_pipelines(2500);
  const auto sends = [&](std::size_t rank) {
    return is_send(schedule.programs[schedule.ranks[rank].program.index()].actions.back().kind);
  };
  std::vector<std::int32_t> devices;
  std::int32_t first = 0;
  std::int32_t second = 2;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    devices.push_back(sends(rank) ? first++ : second++);
  }
  place(schedule, devices);
  Cluster cluster = round_cluster(4, 1, 1);
  cluster.tiers = {{.name = "leaf", .nodes = 2, .over_subscription = 2},
                   {.name = "spine", .nodes = 4}};
  EXPECT_EQ(message_times(schedule, cluster),
            (std::vector<Duration>{Duration(2005us), Duration(2005us)}));
  cluster.tiers[0].over_subscription = 1;
  EXPECT_EQ(message_times(schedule, cluster),
            (std::vector<Duration>{Duration(1005us), Duration(1005us)}));
}

// Four replicas of one stage reduce their gradients in one group: it has the NICs to itself.
TEST(ScheduleEvents, AlonePricesAreThoseOfTheStaticPass) {
  ToyOptions options;
  options.replicas = 4;
  options.rows = 10;
  options.width = 512;
  const Schedule schedule = toy_schedule({"0F0 0B0 REDUCE0 STEP"}, options);
  const auto cost = make_analytical_cost();
  for (const std::int32_t per_nic : {1, 2}) {
    const Cluster cluster = round_cluster(2, 2, per_nic);
    EXPECT_EQ(event_times(schedule, cluster, *cost), static_times(schedule, cluster, *cost));
  }
}

// Two nodes of four devices behind one NIC, tensor degree 4: the four data-parallel groups reduce
// at the same time.  The static price holds a quarter of the NIC for each, because geometry makes
// that certain; the event engine finds it.  Only rounding of rates is between them.
TEST(ScheduleEvents, FindsTheSharingThatGeometryMakesCertain) {
  Cluster cluster = round_cluster(2, 4, 4);
  cluster.types[0].capabilities = {"flash-attention"};
  const ModelGraph model = tiny_gpt(4);
  const auto schedule = lower(model, cluster, plan_of(model, {.dp = 2, .tp = 4}, 2));
  ASSERT_TRUE(schedule) << schedule.error().to_string();
  const auto cost = make_analytical_cost();
  const auto simulation = simulate(*schedule, cluster, *cost);
  ASSERT_TRUE(simulation);
  const auto events = schedule_events(*schedule, cluster, *cost);
  ASSERT_TRUE(events);
  EventEngine engine(events->graph);
  const EventTimes& times = engine.run(events->graph.alone);
  Duration unshared{};
  std::vector<Duration> starts(events->graph.nodes());
  time_actions(events->graph.graph, events->graph.alone, starts);
  for (std::size_t node = 0; node < starts.size(); ++node) {
    unshared = std::max(unshared, starts[node] + events->graph.alone[node]);
  }
  const double expected = to_seconds(simulation->summary.step_time);
  EXPECT_NEAR(to_seconds(times.makespan), expected, 1e-6 * expected);
  EXPECT_LT(to_seconds(unshared), 0.99 * expected);
}

/// Ends of every rank's last action, by who was simulated for it.
std::vector<Duration> last_ends(const Schedule& schedule,
                                const ScheduleEvents& events,
                                const EventTimes& times) {
  std::vector<Duration> ends;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const RankId simulated = events.stands_for[rank];
    const auto actions = static_cast<std::size_t>(events.action_begin[simulated.index() + 1] -
                                                  events.action_begin[simulated.index()]);
    Duration last{};
    for (std::size_t i = 0; i < actions; ++i) {
      for (const NodeIndex node : events.nodes_of(simulated, i)) {
        last = std::max(last, times.end[static_cast<std::size_t>(node)]);
      }
    }
    ends.push_back(last);
  }
  return ends;
}

// Clusters where groups and messages meet on NICs and trunks, evenly and not: with one rank for all
// that are alike, every rank ends when it does by itself, but for the rounding of rates.
TEST(ScheduleEvents, RepresentativesTakeTheTimesOfAllRanks) {
  const ModelGraph model = tiny_gpt(4);
  const auto cost = make_analytical_cost();
  int folded = 0;
  for (const Degrees degrees : {Degrees{.dp = 2, .tp = 4},
                                Degrees{.dp = 2, .tp = 2, .pp = 2},
                                Degrees{.dp = 4, .tp = 1, .pp = 4},
                                Degrees{.dp = 8, .tp = 2, .pp = 1}}) {
    for (const std::int32_t devices : {2, 3, 4}) {
      SCOPED_TRACE(testing::Message() << "dp " << degrees.dp << ", tp " << degrees.tp << ", pp "
                                      << degrees.pp << ", " << devices << " devices a node");
      Cluster cluster = round_cluster(8, devices, devices);
      cluster.types[0].capabilities = {"flash-attention"};
      cluster.tiers = {{.name = "leaf", .nodes = 2, .over_subscription = 4},
                       {.name = "spine", .nodes = 8}};
      const auto schedule = lower(model, cluster, plan_of(model, degrees, 4));
      ASSERT_TRUE(schedule) << schedule.error().to_string();
      const auto all = schedule_events(*schedule, cluster, *cost);
      const auto few =
          schedule_events(*schedule, cluster, *cost, {.representatives = Representatives::kAll});
      ASSERT_TRUE(all && few);
      EXPECT_TRUE(may_contend(all->graph));
      folded += few->graph.nodes() < all->graph.nodes() / 2 ? 1 : 0;
      for (const double slowdown : {1.0, 1.3}) {
        EventEngine all_engine(all->graph, {.compute_slowdown = slowdown});
        EventEngine few_engine(few->graph, {.compute_slowdown = slowdown});
        const auto expected = last_ends(*schedule, *all, all_engine.run(all->graph.alone));
        const auto found = last_ends(*schedule, *few, few_engine.run(few->graph.alone));
        for (std::size_t rank = 0; rank < expected.size(); ++rank) {
          EXPECT_NEAR(to_seconds(found[rank]), to_seconds(expected[rank]), 1e-9)
              << "rank " << rank << ", slow-down " << slowdown;
        }
      }
    }
  }
  EXPECT_GE(folded, 3);
}

// Four replicas side by side, each with a NIC of its own: one rank stands for all of them, unless
// one is set apart.
TEST(ScheduleEvents, OneRankStandsForThoseThatMeetTheSameTraffic) {
  ToyOptions options;
  options.replicas = 4;
  const Schedule schedule = toy_schedule({"0F0 0B0 REDUCE0 STEP"}, options);
  const Cluster cluster = round_cluster(4, 1, 1);
  const auto cost = make_analytical_cost();
  const auto few =
      schedule_events(schedule, cluster, *cost, {.representatives = Representatives::kAll});
  ASSERT_TRUE(few);
  EXPECT_EQ(few->stands_for, std::vector<RankId>(4, RankId(0)));
  const auto replicas = schedule_events(
      schedule, cluster, *cost, {.representatives = Representatives::kWithinReplica});
  ASSERT_TRUE(replicas);
  EXPECT_EQ(replicas->stands_for,
            (std::vector<RankId>{RankId(0), RankId(1), RankId(2), RankId(3)}));
  const auto apart = schedule_events(
      schedule, cluster, *cost, {.representatives = Representatives::kAll, .apart = {RankId(2)}});
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->stands_for, (std::vector<RankId>{RankId(0), RankId(0), RankId(2), RankId(0)}));
}

// A tensor-parallel group is one replica: its ranks scatter as one.
TEST(ScheduleEvents, WithinAReplicaOneRankStandsForItsTensorParallelGroup) {
  Cluster cluster = round_cluster(2, 4, 1);
  cluster.types[0].capabilities = {"flash-attention"};
  const auto schedule = lower(tiny_gpt(4), cluster, plan_of(tiny_gpt(4), {.dp = 2, .tp = 4}, 2));
  ASSERT_TRUE(schedule) << schedule.error().to_string();
  const auto events = schedule_events(*schedule,
                                      cluster,
                                      *make_analytical_cost(),
                                      {.representatives = Representatives::kWithinReplica});
  ASSERT_TRUE(events);
  EXPECT_EQ(std::ranges::count(events->stands_for, RankId(0)), 4);
  EXPECT_EQ(std::ranges::count(events->stands_for, RankId(4)), 4);
}

TEST(ScheduleEvents, ADeviceThatTheClusterDoesNotHaveIsNamed) {
  const Schedule schedule = toy_schedule({"0F0 0SEND_F0", "1RECV_F0 1F0"});
  const auto events = schedule_events(schedule, round_cluster(1, 1, 1), *make_analytical_cost());
  ASSERT_FALSE(events);
  EXPECT_NE(events.error().message.find("rank 1 runs on device 1"), std::string::npos);
}

}  // namespace
}  // namespace stagewright
