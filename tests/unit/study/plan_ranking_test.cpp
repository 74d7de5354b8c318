#include "study/plan_ranking.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/base/file.h"
#include "study/statistics.h"
#include "study/validate.h"

namespace stagewright {
namespace {

/// Rows of one group, a plan each.
std::vector<AccuracyRow> rows_of(const std::vector<std::pair<double, double>>& times) {
  std::vector<AccuracyRow> rows;
  for (const auto& [predicted, measured] : times) {
    rows.push_back({.dataset = "lab",
                    .group = "one",
                    .configuration = std::to_string(rows.size()),
                    .predicted_seconds = predicted,
                    .measured_seconds = measured});
  }
  return rows;
}

TEST(PlanRanking, JudgesGroupsOfPlansThatDiffer) {
  const auto rankings = plan_rankings(rows_of({{2.0, 1.2}, {1.0, 1.5}, {3.0, 2.0}, {4.0, 2.01}}));
  ASSERT_EQ(rankings.size(), 1U);
  EXPECT_EQ(rankings.front().source, "lab");
  EXPECT_EQ(rankings.front().groups, 1);
  EXPECT_NEAR(rankings.front().median_regret, 0.25, 1e-12);
  EXPECT_NEAR(rankings.front().mean_regret, 0.25, 1e-12);
  EXPECT_NEAR(rankings.front().median_spearman, 0.8, 1e-12);
  EXPECT_TRUE(plan_rankings(rows_of({{1.0, 1.0}, {2.0, 1.04}, {3.0, 1.08}})).empty());
}

TEST(PlanRanking, CountsRepeatsOnce) {
  std::vector<AccuracyRow> rows = rows_of({{1.0, 1.0}, {2.0, 1.5}, {3.0, 2.0}});
  rows.push_back(rows.front());
  rows.back().measured_seconds = 3.0;  // the median of both is that of the slowest
  rows.push_back(rows.back());
  const auto rankings = plan_rankings(rows);
  ASSERT_EQ(rankings.size(), 1U);
  EXPECT_NEAR(rankings.front().median_regret, 1.0, 1e-12);
  EXPECT_EQ(rank_correlation({1, 2, 3}, {3, 2, 1}), -1);
}

struct Reached {
  std::string_view source;
  double spearman;       ///< at least, in the median
  double median_regret;  ///< at most
  double mean_regret;    ///< at most
};

// What the shipped constants reach on the published runs: a ratchet.  The goals are a rank
// correlation of 0.9, 3 % in the median and 5 % in the mean on single nodes, and 3 % in the median
// for BLOOM's runs, whose own noise is 4.6 %.
TEST(PlanRanking, PublishedRunsAreRankedNoWorseThanBefore) {
  constexpr std::array<Reached, 2> kReached{
      {{"vtrain_single", 0.97, 0.0, 0.0474}, {"bloom_prequel", 0.5, 0.012, 0.124}}};
  const auto text = read_file(STAGEWRIGHT_TEST_DATA "/measured_runs.jsonl");
  ASSERT_TRUE(text) << text.error().to_string();
  std::vector<RecordLine> records = parse_measured_records(*text);
  std::erase_if(records, [&](const RecordLine& line) {
    return std::ranges::find(kReached, line.dataset, &Reached::source) == kReached.end();
  });
  const DataFiles files = DataFiles::embedded();
  const auto report =
      validate(files, records, *load_step_constants(files), *load_memory_constants(files));
  ASSERT_TRUE(report) << report.error().to_string();
  const auto rankings = plan_rankings(report->rows);
  for (const Reached& reached : kReached) {
    const auto found = std::ranges::find(rankings, reached.source, &PlanRanking::source);
    ASSERT_NE(found, rankings.end()) << reached.source;
    EXPECT_GE(found->median_spearman, reached.spearman) << reached.source;
    EXPECT_LE(found->median_regret, reached.median_regret) << reached.source;
    EXPECT_LE(found->mean_regret, reached.mean_regret) << reached.source;
  }
}

}  // namespace
}  // namespace stagewright
