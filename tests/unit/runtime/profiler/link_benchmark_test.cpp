#include "runtime/profiler/link_benchmark.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using Row = std::tuple<std::string, std::int32_t, std::int64_t, std::int32_t>;

TEST(LinkBenchmark, MeasuresEveryOperationForEveryGroupAndSize) {
  LinkBenchmarkOptions options;
  options.ranks = {2, 3};
  options.sizes = {Bytes(24), Bytes(100)};
  options.warm_up = 1;
  options.repeats = 3;
  const auto links = measure_links(options);
  ASSERT_TRUE(links) << links.error().to_string();
  std::vector<Row> rows;
  for (const MeasuredLink& link : *links) {
    EXPECT_GT(link.time.median, Duration{});
    rows.emplace_back(link.operation, link.ranks, link.bytes.count(), link.time.samples);
  }
  // Sizes are rounded up to whole floats for every rank: 100 -> 104 of 2 ranks, 108 of 3.
  const std::vector<Row> expected = {{"all-gather", 2, 24, 3},     {"all-gather", 2, 104, 3},
                                     {"all-gather", 3, 24, 3},     {"all-gather", 3, 108, 3},
                                     {"all-reduce", 2, 24, 3},     {"all-reduce", 2, 104, 3},
                                     {"all-reduce", 3, 24, 3},     {"all-reduce", 3, 108, 3},
                                     {"broadcast", 2, 24, 3},      {"broadcast", 2, 104, 3},
                                     {"broadcast", 3, 24, 3},      {"broadcast", 3, 108, 3},
                                     {"reduce-scatter", 2, 24, 3}, {"reduce-scatter", 2, 104, 3},
                                     {"reduce-scatter", 3, 24, 3}, {"reduce-scatter", 3, 108, 3},
                                     {"ring-shift", 2, 24, 3},     {"ring-shift", 2, 104, 3},
                                     {"ring-shift", 3, 24, 3},     {"ring-shift", 3, 108, 3},
                                     {"send", 2, 24, 3},           {"send", 2, 104, 3}};
  EXPECT_EQ(rows, expected);
}

TEST(LinkBenchmark, RejectsALinkOfOneRank) {
  EXPECT_EQ(measure_links({.ranks = {1}, .sizes = {Bytes(8)}}).error().code,
            ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace stagewright
