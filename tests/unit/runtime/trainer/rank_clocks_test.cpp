#include "runtime/trainer/rank_clocks.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

[[nodiscard]] TimePoint at(std::int64_t picoseconds) {
  return TimePoint(Duration(picoseconds));
}

// A clock that is 100 ahead at 1100 and 120 ahead at 2120 gains 20 in 1020 of its own: half-way
// between, at 1610, it is 110 ahead.
TEST(RankClocks, PutTimesOnTheFirstOne) {
  StepRecord step;
  step.begin = at(1100);
  step.end = at(2120);
  step.times = {{.posted = at(1100), .ready = at(1610), .start = at(1610), .end = at(2120)}};
  step.memory = {{.at = at(1610)}};
  std::vector<StepRecord> steps = {step};
  onto_first_clock(
      steps, {.at = at(1100), .ahead = Duration(100)}, {.at = at(2120), .ahead = Duration(120)});
  EXPECT_EQ(steps[0].begin, at(1000));
  EXPECT_EQ(steps[0].end, at(2000));
  EXPECT_EQ(steps[0].times[0].posted, at(1000));
  EXPECT_EQ(steps[0].times[0].ready, at(1500));
  EXPECT_EQ(steps[0].times[0].start, at(1500));
  EXPECT_EQ(steps[0].times[0].end, at(2000));
  EXPECT_EQ(steps[0].memory[0].at, at(1500));
}

TEST(RankClocks, MeasuredOnceShiftAllTimesAlike) {
  StepRecord step;
  step.begin = at(50);
  step.end = at(70);
  std::vector<StepRecord> steps = {step};
  const ClockOffset once{.at = at(60), .ahead = Duration(-5)};
  onto_first_clock(steps, once, once);
  EXPECT_EQ(steps[0].begin, at(55));
  EXPECT_EQ(steps[0].end, at(75));
}

}  // namespace
}  // namespace stagewright
