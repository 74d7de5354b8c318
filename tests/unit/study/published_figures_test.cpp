// What the constants that the program ships reach on all published runs.  The sanitizers' builds
// leave these out: other tests take the same ways over fewer runs.

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "shipped_report.h"
#include "study/accuracy_goals.h"
#include "study/calibrate.h"
#include "study/fit_memory.h"
#include "study/leave_one_out.h"
#include "study/plan_ranking.h"
#include "study/statistics.h"
#include "study/validate.h"

namespace stagewright {
namespace {

struct KnownMiss {
  std::string_view goal;
  double reached;  ///< measured, rounded up: what may not get worse
};

// Every goal of accuracy_goals, on the published runs.  A goal that is missed today is listed with
// the figure that it reaches, which is a ratchet; docs/accuracy.md states the same misses.
TEST(Validate, MeetsItsGoalsButForTheKnownMisses) {
  constexpr std::array<KnownMiss, 3> kMisses{
      {{"vtrain_single: mean error of the time", 0.0775},
       {"korthikanti2022: median error of the time", 0.068},
       // Four runs of one 7B model in a test system, none of another device class alike.
       {"megatron_golden_memory: median error of the time", 0.225}}};
  const std::vector<RecordLine> records = published();
  const auto constants = load_step_constants(DataFiles::embedded());
  auto rows = leave_one_out(DataFiles::embedded(), records, constants->band);
  ASSERT_TRUE(rows) << rows.error().to_string();
  const auto goals = accuracy_goals(shipped(records), summarize(*std::move(rows)));
  ASSERT_GE(goals.size(), 20U);
  for (const AccuracyGoal& goal : goals) {
    const auto* const miss = std::ranges::find(kMisses, goal.name, &KnownMiss::goal);
    const double most = miss == kMisses.end() ? goal.most : std::max(goal.most, miss->reached);
    EXPECT_LE(goal.value, most) << goal.name;
    EXPECT_GE(goal.value, goal.least) << goal.name;
  }
}

// Nothing of the published runs is left out but what their notes, profiles/measured/doubtful.json
// or the record's own gaps give a reason for.
TEST(Validate, LeavesOutOnlyWhatHasAReason) {
  const AccuracyReport report = shipped(published());
  std::map<std::string, int> reasons;
  for (const AccuracyRow& row : report.rows) {
    if (!not_judged(row).empty()) {
      ++reasons[not_judged(row)];
    }
  }
  int doubtful = 0;
  for (const auto& [reason, count] : reasons) {
    if (reason == "time: its notes call the time useless") {
      EXPECT_EQ(count, 232);
    } else {
      doubtful += count;
    }
  }
  // profiles/measured/doubtful.json: 5; degrees that nobody stated: 1; experts on more ranks than a
  // stage has: 1.
  EXPECT_EQ(doubtful, 7);
}

// What a source's runs are predicted at by constants that come from the others.
TEST(Calibrate, CarriesOverToSourcesNotSeen) {
  const DataFiles files = DataFiles::embedded();
  const std::vector<RecordLine> lines = published();
  for (const auto& [source, most] : {std::pair{"vtrain_single", 0.09},
                                     std::pair{"bloom_prequel", 0.055},
                                     std::pair{"nanotron", 0.08}}) {
    const auto calibration = calibrate(files, lines, {.without = {source}});
    ASSERT_TRUE(calibration) << calibration.error().to_string();
    const auto report =
        validate(files, lines, calibration->constants, *load_memory_constants(files));
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_LE(median(errors(*report, source)), most) << source;
  }
}

// What is shipped is what the program fits, to the byte.
TEST(Calibrate, WritesTheShippedMemoryConstants) {
  const DataFiles files = DataFiles::embedded();
  EXPECT_EQ(to_json_text(fit_memory(files, published(), {}).constants),
            files.find("calibration/memory.json").value_or(""));
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
      {{"vtrain_single", 0.97, 0.0, 0.0474}, {"bloom_prequel", 0.4, 0.0, 0.062}}};
  std::vector<RecordLine> records = published();
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
