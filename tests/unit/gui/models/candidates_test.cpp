// The plans of a search as a table: ranks, front, filters, order.

#include <QtTest/QAbstractItemModelTester>
#include <gtest/gtest.h>

#include "gui/models/candidate_filter.h"
#include "gui/models/candidates_model.h"

namespace stagewright::gui {
namespace {

using Mode = QAbstractItemModelTester::FailureReportingMode;

CandidateRow simulated(double seconds, std::int64_t gibibytes, std::int32_t tp, std::int32_t dp) {
  CandidateRow row;
  row.candidate.plan.stages = even_stages(8, 2, dp, tp);
  row.candidate.point.tp = tp;
  row.candidate.point.dp = dp;
  row.candidate.point.pp = 2;
  row.candidate.step_time = from_seconds(seconds);
  row.candidate.objective = seconds;
  row.candidate.peak_memory = Bytes(gibibytes << 30U);
  row.candidate.tokens_per_s = 1e4 / seconds;
  row.candidate.bubble = 0.25;
  row.candidate.exposed = 0.125;
  return row;
}

CandidateRow rejected(std::int32_t tp, const std::string& reason) {
  CandidateRow row{.state = CandidateState::kRejected, .candidate = {}, .reason = reason};
  row.candidate.plan.stages = even_stages(8, 1, 1, tp);
  row.candidate.point.tp = tp;
  return row;
}

class CandidatesTest : public testing::Test {
 protected:
  CandidatesTest() {
    model_.add({simulated(3, 10, 2, 4), simulated(2, 20, 4, 2)});
    model_.add({simulated(4, 15, 8, 1), rejected(16, "heads are not divisible by 16")});
  }
  QString text(int row, CandidatesModel::Column column) {
    return model_.index(row, column).data().toString();
  }
  QStringList plans(const CandidateFilter& filter) {
    QStringList times;
    for (int row = 0; row < filter.rowCount(); ++row) {
      times.push_back(filter.index(row, CandidatesModel::kTime).data().toString());
    }
    return times;
  }

  CandidatesModel model_;
  QAbstractItemModelTester tester_{&model_, Mode::Fatal};
};

TEST_F(CandidatesTest, RanksBySimulatedObjectiveAndFindsTheFront) {
  EXPECT_EQ(model_.best(), 1);
  EXPECT_EQ(text(1, CandidatesModel::kRank), "1");
  EXPECT_EQ(text(0, CandidatesModel::kRank), "2");
  EXPECT_EQ(text(3, CandidatesModel::kRank), "-");
  EXPECT_EQ(text(1, CandidatesModel::kVerdict), "Best");
  EXPECT_TRUE(model_.rows()[0].on_front);   // less memory
  EXPECT_FALSE(model_.rows()[2].on_front);  // slower and larger than the first
}

TEST_F(CandidatesTest, WritesFiguresAndReasons) {
  EXPECT_EQ(text(1, CandidatesModel::kTime), "2 s");
  EXPECT_EQ(text(1, CandidatesModel::kMemory), "20 GiB");
  EXPECT_EQ(text(1, CandidatesModel::kBubble), "25.0 %");
  EXPECT_EQ(text(1, CandidatesModel::kExposed), "12.5 %");
  EXPECT_EQ(text(1, CandidatesModel::kDevices), "16");
  EXPECT_EQ(text(3, CandidatesModel::kTime), "-");
  EXPECT_EQ(text(3, CandidatesModel::kVerdict), "Rejected: heads are not divisible by 16");
}

TEST_F(CandidatesTest, TheEndOfASearchCorrectsWhatWasFoundOnTheWay) {
  Candidate judged = model_.rows()[0].candidate;
  judged.objective = 1;
  model_.judge({judged});
  EXPECT_EQ(model_.best(), 0);
}

TEST_F(CandidatesTest, FiltersByValuesOfDimensionsAndWords) {
  CandidateFilter filter(&model_);
  const QAbstractItemModelTester tester(&filter, Mode::Fatal);
  EXPECT_EQ(plans(filter), (QStringList{"2 s", "3 s", "4 s", "-"}));
  filter.set_text("tp=2,8");
  EXPECT_EQ(plans(filter), (QStringList{"3 s", "4 s"}));
  filter.set_text("tp=4..16 divisible");
  EXPECT_EQ(plans(filter), QStringList{"-"});
  filter.set_text("tp=16");  // a rejected plan has degrees, too
  EXPECT_EQ(plans(filter), QStringList{"-"});
  filter.set_text("schedule=zb-*");
  EXPECT_EQ(plans(filter), QStringList{});
  filter.set_text("no-such=3");
  EXPECT_EQ(plans(filter), QStringList{});
}

TEST_F(CandidatesTest, ShowsOnlyWhatIsAskedFor) {
  CandidateFilter filter(&model_);
  filter.set_show(CandidateFilter::kUsable);
  EXPECT_EQ(plans(filter), (QStringList{"2 s", "3 s", "4 s"}));
  filter.set_show(CandidateFilter::kFront);
  EXPECT_EQ(plans(filter), (QStringList{"2 s", "3 s"}));
  filter.set_show(CandidateFilter::kRejected);
  EXPECT_EQ(plans(filter), QStringList{"-"});
}

TEST_F(CandidatesTest, WhatHasNoFigureStandsLastInEitherOrder) {
  CandidateFilter filter(&model_);
  filter.sort(CandidatesModel::kTime, Qt::DescendingOrder);
  EXPECT_EQ(plans(filter), (QStringList{"4 s", "3 s", "2 s", "-"}));
  filter.sort(CandidatesModel::kMemory, Qt::AscendingOrder);
  EXPECT_EQ(plans(filter), (QStringList{"3 s", "4 s", "2 s", "-"}));
}

}  // namespace
}  // namespace stagewright::gui
