#include "runtime/trainer/rank_result.h"

#include <gtest/gtest.h>

#include "runtime/backend_error.h"

namespace stagewright {
namespace {

[[nodiscard]] RankResult made() {
  RankResult result;
  StepRecord& step = result.steps.emplace_back();
  step.step = 3;
  step.begin = TimePoint(Duration(5));
  step.end = TimePoint(Duration(9));
  step.times = {{.posted = TimePoint(Duration(6)), .end = TimePoint(Duration(8))}, {}};
  step.memory = {{.at = TimePoint(Duration(7))}};
  step.memory[0].live[1] = Bytes(42);
  result.steps.emplace_back();
  result.totals = {{.squared_norm = 4, .loss = 2.5}};
  result.memory.total = Bytes(77);
  result.lane_logs = {{1, 2, 3}, {}};
  return result;
}

TEST(RankResult, SurvivesItsBytes) {
  const RankResult before = made();
  const RankResult after = rank_result(to_bytes(before));
  ASSERT_EQ(after.steps.size(), 2U);
  EXPECT_EQ(after.steps[0].step, 3);
  EXPECT_EQ(after.steps[0].begin, before.steps[0].begin);
  EXPECT_EQ(after.steps[0].end, before.steps[0].end);
  ASSERT_EQ(after.steps[0].times.size(), 2U);
  EXPECT_EQ(after.steps[0].times[0].posted, before.steps[0].times[0].posted);
  EXPECT_EQ(after.steps[0].times[0].end, before.steps[0].times[0].end);
  ASSERT_EQ(after.steps[0].memory.size(), 1U);
  EXPECT_EQ(after.steps[0].memory[0].live, before.steps[0].memory[0].live);
  ASSERT_EQ(after.totals.size(), 1U);
  EXPECT_EQ(after.totals[0].loss, 2.5);
  EXPECT_EQ(after.memory, before.memory);
  EXPECT_EQ(after.lane_logs, before.lane_logs);
  EXPECT_EQ(to_bytes(after), to_bytes(before));
}

TEST(RankResult, IsNotReadFromFewerBytes) {
  const std::vector<std::byte> bytes = to_bytes(made());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(static_cast<void>(rank_result(std::span(bytes).first(size))), BackendError)
        << size;
  }
}

}  // namespace
}  // namespace stagewright
