#include <gtest/gtest.h>

#include "fake_cost.h"
#include "plan_cases.h"
#include "reference_pass.h"
#include "sim/engine/static_pass.h"
#include "test_devices.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::FakeCost;
using test::ReferenceTimes;

/// What the static pass says of the same places.
ReferenceTimes static_times(const Schedule& schedule,
                            const Cluster& cluster,
                            const CostModel& cost,
                            bool representatives) {
  const auto simulation = simulate(schedule,
                                   cluster,
                                   cost,
                                   {.representatives = representatives,
                                    .trace = TraceDetail::kOperations,
                                    .trace_all_ranks = true});
  EXPECT_TRUE(simulation) << (simulation ? "" : simulation.error().to_string());
  ReferenceTimes times;
  if (simulation) {
    for (const TraceEvent& event : simulation->trace.events) {
      if (event.op_index || is_send(event.action) || is_receive(event.action)) {
        times[{event.rank.value(), event.action_index, event.op_index.value_or(0)}] = {
            event.start.time_since_epoch(), event.end.time_since_epoch()};
      }
    }
  }
  return times;
}

class StaticPassAgainstTheRules : public testing::TestWithParam<test::PlanCase> {};

TEST_P(StaticPassAgainstTheRules, GivesTheSameTimes) {
  for (const ModelGraph& model : {tiny_gpt(4), tiny_llama(4)}) {
    const Cluster cluster = gpu_cluster(1);
    const auto schedule = test::lowered(GetParam(), model, cluster);
    ASSERT_TRUE(schedule) << schedule.error().to_string();
    for (const unsigned seed : {1U, 2U, 4U}) {
      SCOPED_TRACE(testing::Message() << model.name << ", seed " << seed);
      FakeCost cost;
      test::scatter(seed, 1us, cost);
      const ReferenceTimes expected = test::reference_times(*schedule, test::round_device(), cost);
      ASSERT_FALSE(expected.empty());
      EXPECT_EQ(static_times(*schedule, cluster, cost, true), expected);
      EXPECT_EQ(static_times(*schedule, cluster, cost, false), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Plans,
                         StaticPassAgainstTheRules,
                         testing::ValuesIn(test::plan_cases()),
                         test::name_of_case);

}  // namespace
}  // namespace stagewright
