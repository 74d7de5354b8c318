#include <functional>
#include <ostream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "fake_cost.h"
#include "planner/lower/lower.h"
#include "reference_pass.h"
#include "sim/engine/static_pass.h"
#include "test_devices.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::FakeCost;
using test::ReferenceTimes;

/// Prices that differ from operation to operation without any order in them.
void scatter(unsigned seed, Duration longest, FakeCost& cost) {
  cost.compute = [seed, longest](const Operation& op) {
    const std::size_t mixed = std::hash<std::string>{}(cost_key(op) + std::to_string(seed));
    return Duration(static_cast<std::int64_t>(mixed % static_cast<std::size_t>(longest.count())));
  };
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int64_t> time(1, longest.count());
  cost.collective_time = Duration(time(random));
  // Every second time longer than most phases, so that sends hold up what follows them.
  cost.transfer_time = Duration(time(random)) * (seed % 2 == 0 ? 60 : 1);
}

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

struct Case {
  const char* name;
  Degrees degrees;
  std::int32_t micro_batches = 4;
  Recompute recompute = Recompute::kNone;
  const char* order = "1f1b";
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class StaticPassAgainstTheRules : public testing::TestWithParam<Case> {};

TEST_P(StaticPassAgainstTheRules, GivesTheSameTimes) {
  const Case& one = GetParam();
  for (const ModelGraph& model : {tiny_gpt(4), tiny_llama(4)}) {
    Cluster cluster = gpu_cluster(1);
    Plan plan = plan_of(model, one.degrees, one.micro_batches);
    plan.schedule = one.order;
    for (StagePlan& stage : plan.stages) {
      stage.recompute = one.recompute;
    }
    const auto schedule = lower(model, cluster, plan);
    ASSERT_TRUE(schedule) << schedule.error().to_string();
    for (const unsigned seed : {1U, 2U, 4U}) {
      SCOPED_TRACE(testing::Message() << model.name << ", seed " << seed);
      FakeCost cost;
      scatter(seed, 1us, cost);
      const ReferenceTimes expected = test::reference_times(*schedule, test::round_device(), cost);
      ASSERT_FALSE(expected.empty());
      EXPECT_EQ(static_times(*schedule, cluster, cost, true), expected);
      EXPECT_EQ(static_times(*schedule, cluster, cost, false), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Plans,
                         StaticPassAgainstTheRules,
                         testing::Values(Case{"one", {}},
                                         Case{"dp2", {.dp = 2}},
                                         Case{"tp2", {.tp = 2}},
                                         Case{"pp2", {.pp = 2}},
                                         Case{"pp2gpipe", {.pp = 2}, 6, Recompute::kNone, "gpipe"},
                                         Case{"pp4", {.pp = 4}, 7},
                                         Case{"dp2tp2pp2", {.dp = 2, .tp = 2, .pp = 2}, 3},
                                         Case{"full", {.tp = 2, .pp = 2}, 4, Recompute::kFull}),
                         [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

}  // namespace
}  // namespace stagewright
