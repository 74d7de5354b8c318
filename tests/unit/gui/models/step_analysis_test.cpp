#include "gui/models/step_analysis.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "gui/models/memory_lanes.h"
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
  const auto lanes = memory_lanes(trace, 0, {Bytes(7), Bytes(40)});
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_EQ(lanes[0].peak, Bytes(50));
  EXPECT_EQ(lanes[0].limit, Bytes(40));
  EXPECT_EQ(total_of(lanes[0].most_in(0, 100)), Bytes(10));
  EXPECT_EQ(total_of(lanes[0].most_in(90, 130)), Bytes(50));
  EXPECT_EQ(total_of(lanes[0].most_in(200, 250)), Bytes(20));
  EXPECT_EQ(total_of(lanes[0].most_in(1000, 1001)), Bytes(30));
}

}  // namespace
}  // namespace stagewright::gui
