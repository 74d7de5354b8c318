#include "study/plan_ranking.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
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

}  // namespace
}  // namespace stagewright
