// Searching plans on threads: what is found appears, can be stopped, and opens.

#include "gui/models/plan_search.h"

#include <QtTest/QSignalSpy>
#include <QtTest/QTest>
#include <gtest/gtest.h>

#include "gui/models/document.h"

namespace stagewright::gui {
namespace {

PlanSetup small_setup() {
  return {.model = "gpt2", .cluster = {.nodes = 1, .devices = 4}, .global_batch = 8};
}

/// So many points that it is still under way when somebody has enough of it.
PlanSetup large_setup() {
  return {.model = "gpt3-175b",
          .cluster = {.nodes = 128, .devices = 8, .device = "a100-80gb-sxm"},
          .global_batch = 1536};
}

class PlanSearchTest : public testing::Test {
 protected:
  bool wait() {
    return QTest::qWaitFor([&] { return search_.state() != PlanSearch::State::kRunning; }, 120'000);
  }
  PlanSearch search_;
};

TEST_F(PlanSearchTest, FindsRanksAndChoosesTheBest) {
  QSignalSpy chosen(&search_, &PlanSearch::chosen_changed);
  search_.start(small_setup());
  EXPECT_EQ(search_.state(), PlanSearch::State::kRunning);
  ASSERT_TRUE(wait());
  ASSERT_EQ(search_.state(), PlanSearch::State::kDone) << search_.error().toStdString();
  ASSERT_TRUE(search_.result());
  const auto& rows = search_.candidates()->rows();
  EXPECT_GE(rows.size(), search_.result()->plans.size());
  EXPECT_EQ(search_.chosen(), search_.candidates()->best());
  EXPECT_EQ(chosen.count(), 1);
  const Candidate& best = rows[static_cast<std::size_t>(search_.chosen())].candidate;
  EXPECT_EQ(best.plan, search_.result()->plans.front().plan);
  EXPECT_GT(search_.device_memory(), best.peak_memory);
}

TEST_F(PlanSearchTest, AThreadFindsWhatIsFoundWithoutOne) {
  search_.start(small_setup());
  ASSERT_TRUE(wait());
  PlanSearch alone;
  alone.search_now(small_setup());
  ASSERT_TRUE(alone.result() && search_.result());
  EXPECT_EQ(alone.result()->plans, search_.result()->plans);
}

TEST_F(PlanSearchTest, TheChosenPlanIsSimulatedToTheSameTime) {
  search_.search_now(small_setup());
  const auto inputs = search_.inputs_of(search_.chosen());
  ASSERT_TRUE(inputs) << inputs.error().to_string();
  EXPECT_EQ(inputs->plan.cluster, "1x4xh100-80gb-sxm");
  EXPECT_TRUE(inputs->plan.made_by.contains("command"));
  Document document;
  ASSERT_TRUE(document.simulate_now(*inputs, "x.plan.json"));
  const auto& row = search_.candidates()->rows()[static_cast<std::size_t>(search_.chosen())];
  EXPECT_EQ(document.file()->summary->step_time, row.candidate.step_time);
  EXPECT_EQ(document.file()->summary->peak_memory, row.candidate.peak_memory);
  EXPECT_GT(row.candidate.tokens_per_s, 0);
}

TEST_F(PlanSearchTest, StoppingIsOverAtOnceAndKeepsWhatWasFound) {
  search_.start(large_setup());
  ASSERT_TRUE(QTest::qWaitFor([&] { return search_.candidates()->rowCount({}) > 0; }, 240'000));
  ASSERT_EQ(search_.state(), PlanSearch::State::kRunning);
  search_.cancel();
  EXPECT_EQ(search_.state(), PlanSearch::State::kStopped);
  EXPECT_GE(search_.chosen(), 0);
  const auto before = search_.candidates()->rows().size();
  EXPECT_TRUE(QTest::qWaitFor([&] { return search_.threads_ended(); }, 60'000));
  QTest::qWait(0);
  EXPECT_EQ(search_.state(), PlanSearch::State::kStopped);
  EXPECT_GE(search_.candidates()->rows().size(), before);
}

TEST_F(PlanSearchTest, ANewSearchForgetsTheOldOne) {
  search_.start(large_setup());
  search_.start(small_setup());
  ASSERT_TRUE(wait());
  EXPECT_EQ(search_.state(), PlanSearch::State::kDone);
  for (const CandidateRow& row : search_.candidates()->rows()) {
    EXPECT_LE(row.candidate.point.devices(), 4);
  }
}

TEST_F(PlanSearchTest, SaysWhatStandsInTheWay) {
  PlanSetup setup = small_setup();
  setup.model = "llama3-405b";
  search_.start(setup);
  ASSERT_TRUE(wait());
  EXPECT_EQ(search_.state(), PlanSearch::State::kFailed);
  EXPECT_TRUE(search_.error().contains("memory")) << search_.error().toStdString();
  EXPECT_EQ(search_.chosen(), -1);
}

}  // namespace
}  // namespace stagewright::gui
