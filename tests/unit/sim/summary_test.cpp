#include "sim/analysis/summary.h"

#include <gtest/gtest.h>

#include "toy_traces.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;

// Rank 0 is busy 20 + 40 of 100 us, rank 1 20 + 30.  Rank 0's only operation events end at 20, so
// its message (10 us) counts as exposed; rank 1 has no operations on its compute stream.
TEST(Summary, OfATrace) {
  const Summary summary =
      summarize(test::predicted_toy(), {.model_flops = Flops(1e9), .peak = FlopsPerSecond(1e14)});
  EXPECT_EQ(summary.step_time, Duration(100us));
  EXPECT_DOUBLE_EQ(summary.tokens_per_second, 1e7);
  ASSERT_TRUE(summary.mfu);
  EXPECT_DOUBLE_EQ(*summary.mfu, 0.1);
  ASSERT_EQ(summary.ranks.size(), 2U);
  EXPECT_EQ(summary.ranks[0].busy, Duration(60us));
  EXPECT_DOUBLE_EQ(summary.ranks[0].bubble, 0.4);
  EXPECT_EQ(summary.ranks[0].exposed, (std::map<std::string, Duration>{{"pipeline", 10us}}));
  EXPECT_EQ(summary.ranks[1].busy, Duration(50us));
  EXPECT_TRUE(summary.ranks[1].exposed.empty());
  EXPECT_DOUBLE_EQ(summary.bubble, 0.45);
  EXPECT_EQ(summary.exposed, (std::map<std::string, Duration>{{"pipeline", 5us}}));
  EXPECT_EQ(summary.critical_rank, RankId(0));
  EXPECT_EQ(summary.peak_memory, Bytes(700));
  EXPECT_EQ(summary.measured_share, 0);
}

// Steps of 500 (warming up), 90, 110 and 130 us.
TEST(Summary, TakesTheMedianOfTheStepsAfterTheFirst) {
  Trace trace = test::measured_toy(4);
  trace.step_times = {500us, 90us, 130us, 110us};
  for (TraceEvent& event : trace.events) {
    if (event.step == 0) {
      event.end += 1000us;
    }
  }
  const Summary summary = summarize(trace);
  EXPECT_EQ(summary.step_time, Duration(110us));
  EXPECT_EQ(summary.ranks[0].busy, Duration(60us));
  EXPECT_EQ(summary.measured_share, 1);
  EXPECT_FALSE(summary.mfu);
}

TEST(Summary, OfATraceWithoutEvents) {
  EXPECT_EQ(summarize(Trace{}), Summary{});
}

}  // namespace
}  // namespace stagewright
