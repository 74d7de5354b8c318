// The command line's ways to searched schedules.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/curve_plot.h"
#include "cli_runner.h"
#include "core/base/file.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

// ZB-1p's 28.2 on 4 ranks with 8 micro-batches is what 4 activations allow.
TEST(SynthesisCommand, EmitsAnOrderForTheCostsWithinTheCap) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "synth.csv").string();
  ASSERT_EQ(run_stagewright({"schedules",
                             "emit",
                             "synth",
                             "--ranks=4",
                             "--chunks=8",
                             "--transfer=0.1",
                             "--memory-cap=4",
                             "--effort=2",
                             "--out=" + file})
                .code,
            ExitCode::kSuccess);
  const CliResult check = run_stagewright({"schedules", "check", file, "--transfer=0.1", "--json"});
  const auto json = nlohmann::json::parse(check.out);
  EXPECT_EQ(json.at("valid"), true);
  EXPECT_LE(json.at("makespan").get<double>(), 28.2 + 1e-9);
  for (const int peak : json.at("peak_F_to_W")) {
    EXPECT_LE(peak, 4);
  }
}

TEST(SynthesisCommand, SaysWhatIsWrongWithACap) {
  const auto error = [](const std::string& schedule, const std::string& cap) {
    return run_stagewright({"schedules",
                            "emit",
                            schedule,
                            "--ranks=2",
                            "--chunks=2",
                            "--virtual=2",
                            "--memory-cap=" + cap})
        .err;
  };
  EXPECT_EQ(error("synth", "3,x"),
            "error: --memory-cap: 'x' is no count of micro-batches of a stage; write 8, or one for "
            "each rank: 8,8,7,5\n");
  EXPECT_EQ(error("synth", "3,3,3"),
            "error: --memory-cap: '3,3,3' are 3 caps for 2 ranks; give one, or one for each\n");
  EXPECT_EQ(error("synth", "1"),
            "error: --memory-cap: a single micro-batch does not fit: rank 0 may hold 1 and needs 2 "
            "or more, rank 1 may hold 1 and needs 2 or more\n");
  EXPECT_EQ(error("synth", "2,1"),
            "error: --memory-cap: a single micro-batch does not fit: rank 1 may hold 1 and needs 2 "
            "or more\n");
  const auto of_parameters = [](const std::vector<std::string>& more) {
    std::vector<std::string> all{"schedules", "emit", "synth", "--ranks=2", "--chunks=2"};
    all.insert(all.end(), more.begin(), more.end());
    return run_stagewright(all).err;
  };
  EXPECT_EQ(
      of_parameters(
          {"--parameter=held=4", "--parameter=checkpoint=1", "--costs=F=1,R=1", "--memory-cap=3"}),
      "error: --memory-cap: a single micro-batch does not fit: rank 0 may hold 3 and needs 4 "
      "or more, rank 1 may hold 3 and needs 4 or more\n");
  EXPECT_TRUE(of_parameters({"--parameter=seed=-1"})
                  .starts_with("error: --parameter: 'seed' is -1, but has to be from 0 to "));
  EXPECT_EQ(error("zb-v", "4"),
            "error: the order of schedule 'zb-v' is fixed; --memory-cap, --span and --effort are "
            "for 'synth'\n");
}

TEST(SynthesisCommand, RefusesCostsForAnOrderThatDoesNotDependOnThem) {
  EXPECT_EQ(
      run_stagewright({"schedules", "emit", "1f1b", "--ranks=2", "--chunks=2", "--costs=F=2"}).err,
      "error: --costs: the order of schedule '1f1b' does not depend on costs; leave them "
      "out, or take 'synth'\n");
}

TEST(SynthesisCommand, ComparesSearchedSchedulesAtSeveralCaps) {
  const CliResult result = run_stagewright(
      {"schedules", "compare", "--ranks=4", "--chunks=8", "--transfer=0.1", "--json"});
  ASSERT_EQ(result.code, ExitCode::kSuccess);
  const auto schedules = nlohmann::json::parse(result.out).at("schedules");
  int searched = 0;
  for (const auto& schedule : schedules) {
    searched += schedule.at("synthesised") == true ? 1 : 0;
    if (schedule.at("synthesised") == false && schedule.at("weight_copies") == "1") {
      // With as little memory, some searched one is at least as fast.
      EXPECT_TRUE(std::any_of(schedules.begin(), schedules.end(), [&](const auto& other) {
        return other.at("synthesised") == true &&
               other.at("peak_micro_batches").template get<double>() <=
                   schedule.at("peak_micro_batches").template get<double>() &&
               other.at("makespan").template get<double>() <=
                   schedule.at("makespan").template get<double>() + 1e-9;
      })) << schedule;
    }
  }
  EXPECT_GE(searched, 4);
}

TEST(SynthesisCommand, ComparesNamedSchedulesAloneOnRequest) {
  const CliResult result = run_stagewright(
      {"schedules", "compare", "--ranks=4", "--chunks=8", "--no-synthesis", "--json"});
  const auto comparison = nlohmann::json::parse(result.out);
  for (const auto& schedule : comparison.at("schedules")) {
    EXPECT_EQ(schedule.at("synthesised"), false);
  }
}

TEST(CurvePlot, DrawsTheEndsOfBothRangesAtTheEdges) {
  const std::string text = plot({{1, 10, 'o'}, {3, 5, '*'}}, "peak", "time");
  EXPECT_EQ(text.substr(0, 11), "time\n10 |o\n");
  EXPECT_NE(text.find(" 5 |" + std::string(63, ' ') + "*\n"), std::string::npos);
  EXPECT_EQ(plot({}, "peak", "time"), "");
}

}  // namespace
}  // namespace stagewright
