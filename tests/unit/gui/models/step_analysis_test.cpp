#include "gui/models/step_analysis.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "gui/models/compared_steps.h"
#include "gui/models/memory_lanes.h"
#include "gui/models/opened_file.h"
#include "gui/models/selection_statistics.h"
#include "sim/analysis/summary.h"
#include "sim/engine/static_pass.h"
#include "tests/support/source_folder.h"
#include "tests/unit/gui/made_traces.h"

namespace stagewright::gui {
namespace {

TEST(StepAnalysis, WalksFromAnActionToTheRootAndTheCriticalPathWithoutGaps) {
  const Trace trace = test::pipeline_trace("1f1b", 4, 8);
  const ActionStore store = store_actions(trace, 0);
  const StepAnalysis analysis = analyse_step(trace, 0, store);
  const ActionIndex last = *store.find(RankId(0), 15);
  ASSERT_EQ(short_name(store, last), "B7");
  const auto chain = chain_to_root(analysis, last);
  ASSERT_FALSE(chain.empty());
  EXPECT_EQ(store.start[chain.back()], 0);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    EXPECT_LE(store.end[chain[i]], store.start[i == 0 ? last : chain[i - 1]]);
  }
  ASSERT_FALSE(analysis.on_path.empty());
  EXPECT_EQ(store.start[analysis.on_path.front()], 0);
  EXPECT_EQ(store.end[analysis.on_path.back()], store.length);
  EXPECT_EQ(analysis.slack[analysis.on_path.front()], 0);
}

TEST(StepAnalysis, EffectsAreTheInverseOfCauses) {
  const Trace trace = test::pipeline_trace("zb-h1", 4, 8);
  const ActionStore store = store_actions(trace, 0);
  const StepAnalysis analysis = analyse_step(trace, 0, store);
  for (ActionIndex i = 0; i < store.size(); ++i) {
    for (const ActionIndex before : analysis.before_of(i)) {
      const auto after = analysis.after_of(before);
      EXPECT_NE(std::ranges::find(after, i), after.end());
    }
  }
}

TEST(StepAnalysis, GapsFillTheIdleTimeAndNameWarmUpAndCoolDown) {
  const Trace trace = test::pipeline_trace("1f1b", 4, 8);
  const ActionStore store = store_actions(trace, 0);
  const StepAnalysis analysis = analyse_step(trace, 0, store);
  for (LaneIndex l = 0; l < store.lanes.size(); ++l) {
    const Lane& lane = store.lanes[l];
    if (lane.use != LaneUse::kCompute) {
      continue;
    }
    std::int64_t sum = 0;
    for (const Gap& gap : analysis.gaps[l]) {
      sum += gap.end - gap.start;
    }
    for (ActionIndex i = lane.begin; i < lane.end; ++i) {
      sum += store.end[i] - store.start[i];
    }
    EXPECT_EQ(sum, store.length);
  }
  const auto& last_rank = analysis.gaps[store.lane_of(*store.find(RankId(3), 0))];
  ASSERT_FALSE(last_rank.empty());
  EXPECT_EQ(last_rank.front().cause, BubbleCause::kWarmUp);
  const auto& first_rank = analysis.gaps[store.lane_of(*store.find(RankId(0), 0))];
  EXPECT_TRUE(std::ranges::any_of(
      first_rank, [](const Gap& gap) { return gap.cause == BubbleCause::kCoolDown; }));
  EXPECT_TRUE(std::ranges::any_of(
      last_rank, [](const Gap& gap) { return gap.cause == BubbleCause::kTransfer; }));
}

/// Idle time over the time of all ranks, as the tints of the timeline have it.
double idle_of_gaps(const StepAnalysis& analysis, const ActionStore& store) {
  double idle = 0;
  for (const std::vector<Gap>& gaps : analysis.gaps) {
    for (const Gap& gap : gaps) {
      idle += static_cast<double>(gap.end - gap.start);
    }
  }
  return idle / (static_cast<double>(store.length) * store.ranks);
}

// Rank 1 of the uneven plan comes to the norm of the gradients long before rank 0.
TEST(StepAnalysis, AllViewsAndTheSummaryHaveOneIdleShareWhereAnOptimizerStepWaitsInside) {
  const auto opened =
      open_file((source_folder() / "examples/gpt-demo-uneven.plan.json").string(), {});
  ASSERT_TRUE(opened) << opened.error().to_string();
  const ActionStore& store = opened->shown.actions;
  const double told = opened->summary->bubble;
  EXPECT_GT(told, 0.3);
  const StepAnalysis analysis = analyse_step(opened->trace, 0, store);
  EXPECT_NEAR(analysis.bubbles.share(), told, 1e-9);
  EXPECT_NEAR(statistics_of(store, everything(store)).idle_share, told, 1e-9);
  EXPECT_NEAR(idle_of_gaps(analysis, store), told, 1e-9);
  EXPECT_NEAR(summarize(opened->trace).bubble, told, 1e-9);

  const Simulation explained = simulate(*opened->schedule,
                                        opened->plan->cluster,
                                        **make_cost(DataFiles::embedded(),
                                                    opened->plan->model,
                                                    opened->plan->cluster,
                                                    opened->plan->plan,
                                                    "stagewright",
                                                    std::nullopt),
                                        {.explain = true})
                                   .value();
  for (int cause = 0; cause < kBubbleCauseCount; ++cause) {
    const auto each = static_cast<BubbleCause>(cause);
    EXPECT_NEAR(analysis.bubbles.share(each), explained.bubbles->share(each), 2e-3)
        << name_of(each);
  }
}

// A trace of somebody else's may say anything.
TEST(StepAnalysis, TimesThatContradictEachOtherEndNothing) {
  const auto opened =
      open_file((source_folder() / "examples/gpt-demo-uneven.plan.json").string(), {});
  ASSERT_TRUE(opened) << opened.error().to_string();
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Trace trace = opened->trace;
    std::uint32_t state = seed;
    const auto draw = [&state](std::uint32_t below) {
      state = state * 1664525U + 1013904223U;
      return (state >> 8U) % below;
    };
    for (TraceEvent& event : trace.events) {
      if (event.action == ActionKind::kOptimizerStep || draw(8) == 0) {
        const Duration begin = std::chrono::milliseconds(draw(4) * 20);
        event.posted = TimePoint(begin);
        event.ready = event.posted + std::chrono::milliseconds(draw(2) * 20);
        event.start = event.ready + std::chrono::milliseconds(draw(2) * 20);
        event.end = event.start + std::chrono::milliseconds(draw(2) * 20);
      }
    }
    trace.measured = draw(2) == 0;
    const ActionStore store = store_actions(trace, 0);
    const StepAnalysis analysis = analyse_step(trace, 0, store);
    EXPECT_EQ(analysis.is_on_path.size(), store.size());
    EXPECT_EQ(summarize(trace).ranks.size(), 2U);
  }
}

TEST(StepAnalysis, AnOptimizerStepThatWaitsStandsInPartsWithTheWaitBetween) {
  const auto opened =
      open_file((source_folder() / "examples/gpt-demo-uneven.plan.json").string(), {});
  ASSERT_TRUE(opened) << opened.error().to_string();
  const ActionStore& store = opened->shown.actions;
  const StepAnalysis analysis = analyse_step(opened->trace, 0, store);
  const Lane& lane = store.lanes_of(RankId(1)).front();
  ASSERT_EQ(lane.use, LaneUse::kCompute);
  std::vector<ActionIndex> parts;
  for (ActionIndex i = lane.begin; i < lane.end; ++i) {
    if (store.kind[i] == ActionKind::kOptimizerStep) {
      EXPECT_EQ(goes_on(store, lane, i), !parts.empty());
      parts.push_back(i);
    }
  }
  ASSERT_GT(parts.size(), 1U);
  // What the last part waited for is the optimizer step of rank 0.
  const auto before = analysis.before_of(parts.back());
  ASSERT_FALSE(before.empty());
  EXPECT_EQ(store.lanes[store.lane_of(before.front())].rank, RankId(0));
  EXPECT_EQ(store.kind[before.front()], ActionKind::kOptimizerStep);
  // It is one action of two ranks, in parts or not.
  for (const KindStatistics& kind : statistics_of(store, everything(store)).kinds) {
    if (kind.kind == ActionKind::kOptimizerStep) {
      EXPECT_EQ(kind.count, 2);
    }
  }
}

// The same step, of which the second time rank 0 was slower: rank 1 only waited longer.
TEST(ComparedSteps, AWaitInsideAnOptimizerStepIsNoErrorOfItsOwn) {
  const auto opened =
      open_file((source_folder() / "examples/gpt-demo-uneven.plan.json").string(), {});
  ASSERT_TRUE(opened) << opened.error().to_string();
  constexpr Duration kLater = std::chrono::milliseconds(5);
  Trace later = opened->trace;
  for (TraceEvent& event : later.events) {
    if (event.action != ActionKind::kOptimizerStep) {
      continue;
    }
    const bool goes_on_later = event.rank == RankId(0) || event.op_index;
    event.start += goes_on_later ? kLater : Duration{};
    event.end += kLater;
    if (event.op && class_of(*event.op) == OpClass::kCollective) {
      event.ready += kLater;  // rank 1 has something left to do when its reduction is done
    }
  }
  const ComparedSteps compared = compare_steps(opened->shown.actions, store_actions(later, 0));
  EXPECT_EQ(compared.only_first, 0);
  EXPECT_EQ(compared.only_second, 0);
  for (const ActionMatch& match : compared.matches) {
    EXPECT_EQ(match.own, Duration{}) << short_name(compared.actions, match.first);
  }
}

TEST(MemoryLanes, KeepTheLargestOfAStretchAndThePeak) {
  Trace trace;
  const auto sample = [&](std::int64_t at, std::int64_t activation) {
    MemorySample made{.rank = RankId(1), .at = TimePoint(Duration(at))};
    made.live[static_cast<std::size_t>(TensorClass::kActivation)] = Bytes(activation);
    trace.memory.push_back(made);
  };
  sample(0, 10);
  sample(100, 50);
  sample(120, 20);
  sample(300, 30);
  const auto lanes = memory_lanes(trace, 0, {{Bytes(7), Bytes(1)}, {Bytes(40), Bytes(3)}});
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_EQ(lanes[0].peak, Bytes(53)) << "of tensors and of what the device's driver takes";
  EXPECT_EQ(lanes[0].context, Bytes(3));
  EXPECT_EQ(lanes[0].limit, Bytes(40));
  EXPECT_EQ(total_of(lanes[0].most_in(0, 100)), Bytes(10));
  EXPECT_EQ(total_of(lanes[0].most_in(90, 130)), Bytes(50));
  EXPECT_EQ(total_of(lanes[0].most_in(200, 250)), Bytes(20));
  EXPECT_EQ(total_of(lanes[0].most_in(1000, 1001)), Bytes(30));
}

}  // namespace
}  // namespace stagewright::gui
