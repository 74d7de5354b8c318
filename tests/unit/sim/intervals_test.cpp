#include "sim/analysis/intervals.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

Interval interval(std::int64_t begin, std::int64_t end) {
  return {TimePoint(Duration(begin)), TimePoint(Duration(end))};
}

TEST(Intervals, OverlappingAndTouchingOnesAreUnited) {
  const std::vector<Interval> expected = {interval(0, 4), interval(6, 9)};
  EXPECT_EQ(
      united({interval(6, 7), interval(0, 2), interval(7, 9), interval(1, 4), interval(5, 5)}),
      expected);
  EXPECT_EQ(length_of(expected), Duration(7));
}

// [0, 10) and [20, 30) against [5, 7), [9, 22), [29, 40): outside lie 0-5, 7-9 and 22-29.
TEST(Intervals, LengthOutsideACover) {
  EXPECT_EQ(length_outside({interval(0, 10), interval(20, 30)},
                           {interval(5, 7), interval(9, 22), interval(29, 40)}),
            Duration(14));
  EXPECT_EQ(length_outside({}, {interval(0, 1)}), Duration(0));
  EXPECT_EQ(length_outside({interval(0, 3)}, {}), Duration(3));
}

}  // namespace
}  // namespace stagewright
