#include "runtime/trainer/virtual_clock.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <gtest/gtest.h>

#include "core/base/check.h"
#include "runtime/executor/instruction_graph.h"
#include "runtime/trainer/sampled_batches.h"
#include "sim/analysis/summary.h"
#include "sim/analysis/trace_figures.h"
#include "sim/cost/cost_model.h"
#include "sim/engine/static_pass.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using Place = std::tuple<RankId, std::int32_t, std::optional<std::int32_t>>;

Place place_of(const TraceEvent& event) {
  return {event.rank, event.action_index, event.op_index};
}

std::vector<RankPlan> plans_of(const Schedule& schedule) {
  std::vector<RankPlan> plans;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    auto plan = plan_rank(schedule, RankId(rank));
    SW_CHECK(plan, plan.error().to_string());
    plans.push_back(std::move(*plan));
  }
  return plans;
}

/// A measured step in which everything took as long as the simulator says.
std::vector<RankMeasurements> measured_as(const Trace& predicted,
                                          const std::vector<RankPlan>& plans) {
  std::map<Place, Duration> durations;
  for (const TraceEvent& event : predicted.events) {
    durations[place_of(event)] = event.end - event.start;
  }
  std::vector<RankMeasurements> ranks;
  for (const RankPlan& plan : plans) {
    StepRecord record;
    for (const Instruction& instruction : plan.instructions) {
      const auto op =
          instruction.operation == nullptr ? std::nullopt : std::optional(instruction.op);
      const auto found = durations.find({plan.rank, instruction.action, op});
      EXPECT_NE(found, durations.end()) << describe(plan, instruction);
      // Wall times that have nothing to do with it.
      record.times.push_back({TimePoint(1s), TimePoint(2s), TimePoint(3s), TimePoint(9s)});
      record.times.back().thread_time = found == durations.end() ? Duration{} : found->second;
    }
    ranks.push_back({&plan, {record}, {}});
  }
  return ranks;
}

Simulation simulated(const Schedule& schedule, const Layout& layout) {
  auto simulation = simulate(schedule,
                             cluster_of(layout),
                             *make_analytical_cost(),
                             {.trace = TraceDetail::kOperations, .trace_all_ranks = true});
  SW_CHECK(simulation, simulation.error().to_string());
  return std::move(*simulation);
}

class VirtualClock : public testing::TestWithParam<Layout> {};

// Two engines that know nothing of each other: the simulator's static pass over actions, and the
// replay of the executor's instructions.
TEST_P(VirtualClock, GivesTheSimulatedStepForSimulatedDurations) {
  const Schedule schedule =
      schedule_of(small_model(styles_of(GetParam()).front()), GetParam(), adamw());
  const Trace predicted = simulated(schedule, GetParam()).trace;
  const std::vector<RankPlan> plans = plans_of(schedule);
  const Trace replayed =
      measured_trace(schedule, on_virtual_clock(measured_as(predicted, plans)), "virtual");
  const Duration step = replayed.step_times.front();
  // Longer only because communication waits for memory that the arena gives from one tensor to the
  // next, which the simulator does not price: a gather ahead of its use most of all.
  const double ratio = to_seconds(step) / to_seconds(predicted.step_times.front());
  EXPECT_GE(ratio, 0.999);
  EXPECT_LE(ratio, 1.06);
  const auto expected = rank_figures(predicted);
  for (const auto& [rank, figures] : rank_figures(replayed)) {
    EXPECT_EQ(figures.computing, expected.at(rank).computing) << "rank " << rank.value();
    EXPECT_EQ(figures.memory, expected.at(rank).memory) << "rank " << rank.value();
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts,
                         VirtualClock,
                         testing::ValuesIn(all_layouts()),
                         [](const auto& chosen) { return chosen.param.name; });

class PipelineOfFour : public testing::TestWithParam<std::string> {};

TEST_P(PipelineOfFour, IdlesByTheVirtualClockAsSimulated) {
  const Layout layout{.name = "", .pp = 4, .schedule = GetParam()};
  const Schedule schedule = schedule_of(small_model(Style::kGpt), layout, adamw());
  const Trace predicted = simulated(schedule, layout).trace;
  const std::vector<RankPlan> plans = plans_of(schedule);
  const Trace replayed =
      measured_trace(schedule, on_virtual_clock(measured_as(predicted, plans)), "virtual");
  const auto expected = rank_figures(predicted);
  double most_idle = 0;
  for (const auto& [rank, figures] : rank_figures(replayed)) {
    const double idle = bubble_share(figures.computing, replayed.step_times.front());
    most_idle = std::max(most_idle, idle);
    EXPECT_NEAR(idle, bubble_share(expected.at(rank).computing, predicted.step_times.front()), 0.03)
        << "rank " << rank.value();
  }
  EXPECT_GT(most_idle, 0.25);  // of 8 micro-batches on 4 stages 3 / 11 at the least
}

INSTANTIATE_TEST_SUITE_P(Schedules,
                         PipelineOfFour,
                         testing::Values("gpipe", "1f1b", "zb-h1"),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           std::erase(name, '-');
                           return name;
                         });

// The rules of semantics.h, on a replayed step of unlike durations.
TEST(InstructionGraph, KeepsTheRules) {
  const Layout layout{.name = "", .dp = 2, .tp = 2, .pp = 2};
  const Schedule schedule = schedule_of(small_model(Style::kLlama), layout, adamw());
  const std::vector<RankPlan> plans = plans_of(schedule);
  InstructionGraph::Times measured;
  std::vector<const RankPlan*> pointers;
  std::uint32_t state = 7;
  for (const RankPlan& plan : plans) {
    pointers.push_back(&plan);
    measured.emplace_back(plan.instructions.size());
    for (InstructionTimes& times : measured.back()) {
      state = state * 1'664'525 + 1'013'904'223;
      times.thread_time = Duration(state >> 8);
    }
  }
  const InstructionGraph::Times times = InstructionGraph(pointers).retimed(measured);
  Duration last{};
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    std::vector<TimePoint> lane_end(plans[rank].lanes.size());
    for (std::size_t i = 0; i < plans[rank].instructions.size(); ++i) {
      const Instruction& instruction = plans[rank].instructions[i];
      const InstructionTimes& at = times[rank][i];
      EXPECT_LE(at.posted, at.ready);
      EXPECT_LE(at.ready, at.start);
      // Alone on its lane, and after all that it names.
      EXPECT_GE(at.start, lane_end[instruction.lane.index()]) << describe(plans[rank], instruction);
      lane_end[instruction.lane.index()] = at.end;
      for (const std::int32_t wait : instruction.waits) {
        EXPECT_GE(at.start, times[rank][static_cast<std::size_t>(wait)].end);
      }
      if (on_host(instruction)) {
        EXPECT_EQ(at.end - at.start, measured[rank][i].thread_time);
      } else {
        EXPECT_GE(at.end - at.start, measured[rank][i].thread_time);
      }
      last = std::max(last, at.end.time_since_epoch());
    }
  }
  EXPECT_GT(last, 0s);
}

// Sides of one message, in the order of its channel, happen at once.
TEST(InstructionGraph, SidesOfAMessageShareItsTimes) {
  const Layout layout{.name = "", .pp = 2, .schedule = "gpipe"};
  const Schedule schedule = schedule_of(small_model(Style::kGpt), layout, sgd());
  const std::vector<RankPlan> plans = plans_of(schedule);
  InstructionGraph::Times measured;
  for (const RankPlan& plan : plans) {
    measured.emplace_back(plan.instructions.size(), InstructionTimes{.thread_time = 3us});
  }
  const auto times = InstructionGraph({&plans[0], &plans[1]}).retimed(measured);
  const auto messages = [&](std::size_t rank, ActionKind kind) {
    std::vector<std::pair<TimePoint, TimePoint>> found;
    for (std::size_t i = 0; i < plans[rank].instructions.size(); ++i) {
      const auto action = static_cast<std::size_t>(plans[rank].instructions[i].action);
      if (plans[rank].program->actions[action].kind == kind) {
        found.emplace_back(times[rank][i].start, times[rank][i].end);
      }
    }
    return found;
  };
  const auto sent = messages(0, ActionKind::kSendActivation);
  EXPECT_EQ(sent.size(), static_cast<std::size_t>(schedule.micro_batches));
  EXPECT_EQ(sent, messages(1, ActionKind::kRecvActivation));
  EXPECT_EQ(messages(1, ActionKind::kSendGradient), messages(0, ActionKind::kRecvGradient));
}

// A real run: thread times are no longer than wall times, and all else is as on the wall.
TEST(RunOnVirtualClock, ARunLeavesBothTraces) {
  const Layout layout{.name = "", .dp = 2, .tp = 2, .pp = 2};
  const Schedule schedule = schedule_of(small_model(Style::kGpt), layout, adamw());
  const TokenData data = learnable_tokens();
  const SampledBatches batches(data, schedule, kTrainingSeed);
  RunOptions options;
  options.steps = 4;
  options.first_traced_step = 1;
  options.traced_steps = 2;
  options.virtual_clock = true;
  const auto report =
      run(std::vector<const Schedule*>(schedule.ranks.size(), &schedule), batches, options);
  ASSERT_TRUE(report) << report.error().to_string();
  ASSERT_TRUE(report->virtual_trace);
  const Trace& wall = report->trace;
  const Trace& replayed = *report->virtual_trace;
  EXPECT_EQ(wall.clock, "wall");
  EXPECT_EQ(replayed.clock, "virtual");
  EXPECT_EQ(replayed.steps, 2);
  EXPECT_EQ(replayed.step_times.size(), 2U);
  EXPECT_EQ(replayed.losses, std::vector(wall.losses.begin() + 1, wall.losses.begin() + 3));
  EXPECT_TRUE(parse_binary(to_binary(replayed), "replayed"));

  std::map<std::pair<Place, std::int32_t>, Duration> wall_times;
  for (const TraceEvent& event : wall.events) {
    wall_times[{place_of(event), event.step}] = event.end - event.start;
  }
  EXPECT_EQ(replayed.events.size(), wall.events.size());
  Duration computing{};
  for (const TraceEvent& event : replayed.events) {
    const auto on_wall = wall_times.find({place_of(event), event.step + 1});
    ASSERT_NE(on_wall, wall_times.end());
    if (event.op && event.stream == kComputeStream) {
      // Two clocks, which need not tick alike.
      EXPECT_LE(event.end - event.start, on_wall->second * 11 / 10 + Duration(20us));
      computing += event.end - event.start;
    }
  }
  EXPECT_GT(computing, 0s);
  EXPECT_LT(replayed.step_times[0] + replayed.step_times[1], computing);  // eight ranks at once
  const auto peaks = rank_figures(wall);
  for (const auto& [rank, figures] : rank_figures(replayed)) {
    EXPECT_EQ(figures.memory, peaks.at(rank).memory) << "rank " << rank.value();
  }
}

TEST(RunOnVirtualClock, OnlyWhereItWasAskedFor) {
  const Schedule schedule = schedule_of(small_model(Style::kGpt), {.name = ""}, adamw());
  const auto report = train(schedule, 1);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->virtual_trace);
}

}  // namespace
}  // namespace stagewright
