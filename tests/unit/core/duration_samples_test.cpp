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

TEST(DurationSamples, MeansLeaveOutTheLongestFiftieth) {
  EXPECT_EQ(summarize_mean({Duration(7)}), (MeasuredTime{Duration(7), Duration(0), 1}));
  // One member waits, the other one does not: 10 and 30 in turns, and twice for another process.
  std::vector<Duration> samples;
  for (int i = 0; i < 49; ++i) {
    samples.emplace_back(10);
    samples.emplace_back(30);
  }
  samples.insert(samples.end(), 2, Duration(1'000'000));
  EXPECT_EQ(summarize_mean(samples), (MeasuredTime{Duration(20), Duration(10), 100}));
}

}  // namespace
}  // namespace stagewright
