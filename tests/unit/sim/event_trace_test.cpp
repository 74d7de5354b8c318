#include "sim/engine/event_trace.h"

#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "fake_cost.h"
#include "sim/engine/static_pass.h"
#include "test_devices.h"
#include "tests/support/toy_schedule.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;

Cluster one_node(std::int32_t devices) {
  Cluster cluster;
  cluster.types = {test::round_device()};
  cluster.nodes = {{"", std::vector<std::int32_t>(static_cast<std::size_t>(devices), 0)}};
  return cluster;
}

using Row = std::tuple<RankId, std::int32_t, ActionKind, StreamId, TimePoint, TimePoint, Bytes>;

/// What computes or moves something, without what the two traces say differently of it.
std::vector<Row> rows_of(const Trace& trace) {
  std::vector<Row> rows;
  for (const TraceEvent& event : trace.events) {
    const bool message = is_send(event.action) || is_receive(event.action);
    rows.emplace_back(event.rank,
                      event.action_index,
                      event.action,
                      event.stream,
                      event.start,
                      event.end,
                      message ? event.bytes : Bytes(0));
  }
  return rows;
}

TEST(EventTrace, SaysOfEveryActionWhatTheStaticPassSaysWhereNothingContends) {
  const Schedule schedule = toy_schedule(toy_1f1b(3, 4));
  test::FakeCost cost;
  cost.compute = [](const Operation& op) { return op.transpose_b ? Duration(7ms) : 5ms; };
  cost.transfer_time = 1ms;
  const Cluster cluster = one_node(3);
  const auto simulation =
      simulate(schedule, cluster, cost, {.representatives = false, .trace_all_ranks = true});
  ASSERT_TRUE(simulation) << simulation.error().to_string();
  const auto events = schedule_events(schedule, cluster, cost);
  ASSERT_TRUE(events) << events.error().to_string();
  EventEngine engine(events->graph);
  const Trace trace = event_trace(schedule, *events, engine.run(events->graph.alone), true);
  EXPECT_EQ(rows_of(trace), rows_of(simulation->trace));
  EXPECT_EQ(trace.step_times, simulation->trace.step_times);
  EXPECT_EQ(trace.streams, simulation->trace.streams);
  EXPECT_EQ(trace.schedule_hash, simulation->trace.schedule_hash);
}

TEST(EventTrace, RanksThatAreAlikeHaveTheEventsOfTheOneThatWasSimulated) {
  ToyOptions options;
  options.replicas = 2;
  const Schedule schedule = toy_schedule({"0F0 0B0 REDUCE0 STEP"}, options);
  const auto cost = make_analytical_cost();
  const auto events = schedule_events(schedule, one_node(2), *cost, {.representatives = Representatives::kAll});
  ASSERT_TRUE(events) << events.error().to_string();
  EventEngine engine(events->graph);
  const EventTimes& times = engine.run(events->graph.alone);
  const Trace all = event_trace(schedule, *events, times, true);
  const Trace few = event_trace(schedule, *events, times, false);
  EXPECT_EQ(few.events.size(), 4U);
  ASSERT_EQ(all.events.size(), 8U);
  EXPECT_EQ(std::vector<TraceEvent>(all.events.begin(), all.events.begin() + 4), few.events);
  TraceEvent copied = all.events[4];
  EXPECT_EQ(copied.rank, RankId(1));
  copied.rank = RankId(0);
  EXPECT_EQ(copied, few.events[0]);
}

}  // namespace
}  // namespace stagewright
