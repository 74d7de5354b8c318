#include "gui/models/compared_steps.h"

#include <QtTest/QAbstractItemModelTester>
#include <gtest/gtest.h>

#include "gui/models/comparison_model.h"
#include "gui/models/paint_columns.h"
#include "tests/unit/gui/made_traces.h"

namespace stagewright::gui {
namespace {

using namespace std::chrono_literals;

/// Rank 1 computes 20 % longer; everything behind it starts that much later.
Trace with_slow_rank() {
  Trace trace = test::pipeline_trace("1f1b", 3, 4);
  for (TraceEvent& event : trace.events) {
    const Duration start = event.start.time_since_epoch() * 6 / 5;
    const Duration length = event.end - event.start;
    event.start = TimePoint(start);
    event.end = TimePoint(start + (event.rank == RankId(1) ? length * 6 / 5 : length));
  }
  trace.measured = true;
  return trace;
}

class ComparedStepsTest : public testing::Test {
 protected:
  ActionStore first_ = store_actions(test::pipeline_trace("1f1b", 3, 4), 0);
  ActionStore second_ = store_actions(with_slow_rank(), 0);
};

TEST_F(ComparedStepsTest, LaysEveryRankOutAsFirstSecondAndError) {
  const ComparedSteps compared = compare_steps(first_, second_);
  ASSERT_EQ(compared.actions.lanes.size(), 9U);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(compared.actions.lanes[3 * rank].use, LaneUse::kCompute);
    EXPECT_EQ(compared.actions.lanes[3 * rank + 1].use, LaneUse::kCompared);
    EXPECT_EQ(compared.actions.lanes[3 * rank + 2].use, LaneUse::kError);
  }
  EXPECT_EQ(compared.only_first, 0);
  EXPECT_EQ(compared.only_second, 0);
  EXPECT_EQ(compared.matches.size(), 24U);
}

TEST_F(ComparedStepsTest, TellsOwnErrorFromInheritedDelay) {
  const ComparedSteps compared = compare_steps(first_, second_);
  const ActionStore& store = compared.actions;
  for (const ActionMatch& match : compared.matches) {
    const bool slow = store.lanes[store.lane_of(match.first)].rank == RankId(1);
    EXPECT_EQ(match.own, slow ? store.duration(match.first) / 5 : Duration{});
    EXPECT_EQ(match.inherited, Duration(store.start[match.first]) / 5);
  }
  // The slow rank's backwards differ most.
  EXPECT_EQ(compared.matches.front().own, 400ms);
  const Lane& strip = store.lanes[5];
  for (ActionIndex i = strip.begin; i < strip.end; ++i) {
    EXPECT_FLOAT_EQ(store.error[i], 0.2F);
  }
}

TEST_F(ComparedStepsTest, SumsUpByKind) {
  const ComparedSteps compared = compare_steps(first_, second_);
  ASSERT_EQ(compared.kinds.size(), 4U);  // messages of both ways, too
  for (const KindMatch& kind : compared.kinds) {
    if (is_receive(kind.kind)) {
      EXPECT_EQ(kind.count, 8) << name_of(kind.kind);
    }
  }
  // A third of all time takes 20 % longer.
  EXPECT_EQ(compared.kinds[0].kind, ActionKind::kBackward);
  EXPECT_EQ(compared.kinds[0].first, 24s);
  EXPECT_EQ(compared.kinds[0].second, 25600ms);
  EXPECT_NEAR(compared.kinds[0].mean_error, 0.2 / 3, 1e-9);
}

TEST_F(ComparedStepsTest, CountsWhatOnlyOneHas) {
  const ActionStore shorter = store_actions(test::pipeline_trace("1f1b", 3, 3), 0);
  const ComparedSteps compared = compare_steps(first_, shorter, Alignment::kEnd);
  EXPECT_EQ(compared.only_first, 6);
  EXPECT_EQ(compared.only_second, 0);
  std::int64_t last = 0;
  for (const Lane& lane : compared.actions.lanes) {
    if (lane.use == LaneUse::kCompared) {
      last = std::max(last, compared.actions.end[lane.end - 1]);
    }
  }
  EXPECT_EQ(last, first_.length);
}

TEST_F(ComparedStepsTest, ErrorsSaturateAtAQuarter) {
  EXPECT_EQ(error_paint(0), kFirstErrorPaint + kErrorPaints / 2);
  EXPECT_EQ(error_paint(0.25), error_paint(7));
  EXPECT_EQ(error_paint(-0.25), kFirstErrorPaint);
  EXPECT_EQ(error_paint(9), kFirstErrorPaint + kErrorPaints - 1);
}

TEST_F(ComparedStepsTest, TheModelListsTheLargestDifferences) {
  ComparisonModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  EXPECT_EQ(model.rowCount({}), 0);
  model.set_comparison(std::make_shared<const ComparedSteps>(compare_steps(first_, second_)),
                       {1, "s"});
  ASSERT_EQ(model.rowCount({}), 24);
  EXPECT_EQ(model.index(0, ComparisonModel::kAction).data().toString(), "B0");
  EXPECT_EQ(model.index(0, ComparisonModel::kRank).data().toInt(), 1);
  EXPECT_EQ(model.index(0, ComparisonModel::kOwn).data().toString(), "+400 ms");
}

}  // namespace
}  // namespace stagewright::gui
