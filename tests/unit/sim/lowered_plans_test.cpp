#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "planner/lower/lower.h"
#include "sim/analysis/trace_work.h"
#include "sim/engine/static_pass.h"
#include "test_devices.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;

struct Case {
  const char* name;
  Degrees degrees;
  std::int32_t micro_batches = 4;
  Recompute recompute = Recompute::kNone;
  std::int32_t nodes = 1;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

/// What must hold for whatever lowering makes.
class LoweredPlans : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& one = GetParam();
    const ModelGraph model = tiny_gpt(4);
    cluster_ = gpu_cluster(one.nodes);
    cluster_.types[0] = priced(cluster_.types[0]);
    Plan plan = plan_of(model, one.degrees, one.micro_batches);
    for (StagePlan& stage : plan.stages) {
      stage.recompute = one.recompute;
    }
    auto schedule = lower(model, cluster_, plan);
    ASSERT_TRUE(schedule) << schedule.error().to_string();
    schedule_ = *std::move(schedule);
  }

  /// The same device with figures; small ones, so that the tiny model is not all latency.
  static DeviceType priced(const DeviceType& device) {
    DeviceType figures = test::round_device();
    figures.capabilities = device.capabilities;
    figures.kernel_overhead = 1us;
    figures.peak[DType::kFloat32] = FlopsPerSecond(1e9);
    figures.intra_node.latency = 2us;
    figures.inter_node.latency = 7us;
    figures.inter_node.bandwidth = BytesPerSecond(1e8);
    return figures;
  }

  [[nodiscard]] Simulation simulated(bool representatives,
                                     TraceDetail detail = TraceDetail::kOperations) const {
    const auto cost = make_analytical_cost();
    auto simulation = simulate(schedule_,
                               cluster_,
                               *cost,
                               {.representatives = representatives,
                                .trace = detail,
                                .trace_all_ranks = true,
                                .explain = true});
    EXPECT_TRUE(simulation) << (simulation ? "" : simulation.error().to_string());
    return simulation ? *std::move(simulation) : Simulation{};
  }

  Cluster cluster_;
  Schedule schedule_;
};

// Rank, action, operation, start and end.  When a piece of work became ready may be known less
// precisely where its rank stands for others.
using Times = std::vector<
    std::tuple<RankId, std::int32_t, std::optional<std::int32_t>, TimePoint, TimePoint>>;

Times times_of(const Trace& trace) {
  Times times;
  for (const TraceEvent& event : trace.events) {
    times.emplace_back(event.rank, event.action_index, event.op_index, event.start, event.end);
  }
  return times;
}

TEST_P(LoweredPlans, RepresentativesTakeTheTimesOfTheFullSimulation) {
  const Simulation few = simulated(true);
  const Simulation all = simulated(false);
  EXPECT_EQ(few.summary.step_time, all.summary.step_time);
  EXPECT_EQ(times_of(few.trace), times_of(all.trace));
  EXPECT_EQ(few.trace.memory, all.trace.memory);
  EXPECT_EQ(few.summary.exposed, all.summary.exposed);
  EXPECT_NEAR(few.summary.bubble, all.summary.bubble, 1e-12);
  EXPECT_LE(few.summary.ranks.size(), all.summary.ranks.size());
}

TEST_P(LoweredPlans, CausesOfTheBubbleAndTheCriticalPathAddUp) {
  const Simulation simulation = simulated(true);
  const BubbleCauses& bubbles = *simulation.bubbles;
  EXPECT_EQ(bubbles.step_time, simulation.summary.step_time);
  EXPECT_NEAR(bubbles.share(), simulation.summary.bubble, 1e-12);
  ASSERT_EQ(bubbles.ranks.size(), simulation.summary.ranks.size());
  for (std::size_t rank = 0; rank < bubbles.ranks.size(); ++rank) {
    const RankBubble& bubble = bubbles.ranks[rank];
    EXPECT_EQ(bubble.rank, simulation.summary.ranks[rank].rank);
    EXPECT_EQ(bubble.idle, bubbles.step_time - simulation.summary.ranks[rank].busy);
    EXPECT_EQ(std::accumulate(bubble.by_cause.begin(), bubble.by_cause.end(), Duration{}),
              bubble.idle);
    EXPECT_EQ(bubble.by_cause[static_cast<std::size_t>(BubbleCause::kPeer)], Duration{});
  }
  const CriticalPath& path = *simulation.critical_path;
  EXPECT_EQ(path.length, bubbles.step_time);
  EXPECT_EQ(std::accumulate(path.by_kind.begin(), path.by_kind.end(), path.tail), path.length);
}

TEST_P(LoweredPlans, TraceHoldsEveryOperationOnceInIssueOrder) {
  const Simulation simulation = simulated(true);
  std::map<RankId, std::vector<std::pair<std::int32_t, std::int32_t>>> traced;
  for (const TraceEvent& event : simulation.trace.events) {
    if (event.op_index) {
      traced[event.rank].emplace_back(event.action_index, *event.op_index);
    }
    EXPECT_LE(event.posted, event.ready);
    EXPECT_LE(event.ready, event.start);
    EXPECT_LE(event.start, event.end);
  }
  for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
    const RankProgram& program = schedule_.programs[schedule_.ranks[rank].program.index()];
    std::vector<std::pair<std::int32_t, std::int32_t>> listed;
    for (std::size_t i = 0; i < program.actions.size(); ++i) {
      const ActionOperations run = operations_of(program, program.actions[i]);
      for (std::size_t op = 0; op < run.ops.size(); ++op) {
        if (run.includes(run.ops[op])) {
          listed.emplace_back(static_cast<std::int32_t>(i), static_cast<std::int32_t>(op));
        }
      }
    }
    EXPECT_EQ(traced[RankId(rank)], listed) << "rank " << rank;
  }
}

// Operations of one stream never overlap and keep their order.
TEST_P(LoweredPlans, StreamsRunOneOperationAfterTheOther) {
  const Simulation simulation = simulated(true);
  std::map<std::pair<RankId, StreamId>, TimePoint> free;
  for (const TraceEvent& event : simulation.trace.events) {
    if (event.op_index) {
      TimePoint& at = free[{event.rank, event.stream}];
      EXPECT_LE(at, event.start) << "rank " << event.rank.value() << ", action "
                                 << event.action_index << ", operation " << *event.op_index;
      at = event.end;
    }
  }
}

TEST_P(LoweredPlans, SummaryOfTheTraceEqualsThatOfTheSimulation) {
  const Simulation simulation = simulated(true);
  const Summary of_trace = summarize(simulation.trace);
  const BubbleCauses bubbles = bubble_causes(work_of(simulation.trace));
  const Simulation coarse = simulated(true, TraceDetail::kActions);
  const Summary of_actions = summarize(coarse.trace);
  const BubbleCauses of_coarse = bubble_causes(work_of(coarse.trace));
  EXPECT_EQ(of_trace.step_time, simulation.summary.step_time);
  EXPECT_DOUBLE_EQ(of_trace.tokens_per_second, simulation.summary.tokens_per_second);
  for (const RankSummary& one : simulation.summary.ranks) {
    const RankSummary& traced = of_trace.ranks[one.rank.index()];
    EXPECT_EQ(traced.memory.total, one.memory.total);
    // A backward that repeats its forward before its gradient has come waits inside.
    if (GetParam().recompute == Recompute::kNone) {
      EXPECT_EQ(traced.busy, one.busy);
      EXPECT_EQ(of_actions.ranks[one.rank.index()].busy, one.busy);
      const Duration idle = simulation.summary.step_time - one.busy;
      EXPECT_EQ(bubbles.ranks[one.rank.index()].idle, idle);
      EXPECT_EQ(of_coarse.ranks[one.rank.index()].idle, idle);
    } else {
      EXPECT_GE(traced.busy, one.busy);
    }
  }
}

TEST_P(LoweredPlans, MemoryOfEveryRankIsThatOfItsLifetimes) {
  const Simulation simulation = simulated(true);
  for (const RankSummary& one : simulation.summary.ranks) {
    const RankProgram& program =
        schedule_.programs[schedule_.ranks[one.rank.index()].program.index()];
    EXPECT_EQ(one.memory, memory_peaks(program, lifetimes(program)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Plans,
    LoweredPlans,
    testing::Values(Case{"one", {}},
                    Case{"dp2", {.dp = 2}},
                    Case{"tp2", {.tp = 2}},
                    Case{"pp2", {.pp = 2}},
                    Case{"pp4", {.pp = 4}, 7},
                    Case{"dp2tp2pp2", {.dp = 2, .tp = 2, .pp = 2}},
                    Case{"dp4pp4acrossnodes", {.dp = 4, .pp = 4}, 6, Recompute::kNone, 2},
                    Case{"full", {.tp = 2, .pp = 2}, 4, Recompute::kFull}),
    [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

}  // namespace
}  // namespace stagewright
