#include "core/profile/duration_samples.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(DurationSamples, MedianAndHalfTheDistanceOfTheQuartiles) {
  const auto samples = [](std::initializer_list<int> values) {
    std::vector<Duration> list;
    for (const int value : values) {
      list.emplace_back(value);
    }
    return list;
  };
  EXPECT_EQ(summarize(samples({7})), (MeasuredTime{Duration(7), Duration(0), 1}));
  // Sorted 10 20 30 40 50: quartiles 20 and 40.
  EXPECT_EQ(summarize(samples({50, 10, 30, 20, 40})),
            (MeasuredTime{Duration(30), Duration(10), 5}));
  // Sorted 10 20: median 15, quartiles 12.5 and 17.5 cut to whole picoseconds.
  EXPECT_EQ(summarize(samples({20, 10})), (MeasuredTime{Duration(15), Duration(2), 2}));
}

}  // namespace
}  // namespace stagewright
