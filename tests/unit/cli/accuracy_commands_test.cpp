#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "core/base/file.h"
#include "tests/support/published_runs.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

/// A file of some published runs: the first of every source and each `step`-th after it.
class RunsFile {
 public:
  explicit RunsFile(int step) : path_((folder_.path() / "runs.jsonl").string()) {
    EXPECT_TRUE(write_file(path_, some_published_runs(step)));
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

TEST(ValidateCommand, PrintsTheReportAsJson) {
  const CliResult result = run_stagewright({"validate", RunsFile(16).path(), "--json"});
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["sources"].size(), 14U);
  for (const char* key : {"name",
                          "records",
                          "skipped",
                          "time_median_ape",
                          "time_mean_ape",
                          "time_within_10pct",
                          "memory_records",
                          "memory_median_ape",
                          "oom_right",
                          "oom_wrong",
                          "band_coverage",
                          "groups"}) {
    EXPECT_TRUE(json["sources"][0].contains(key)) << key;
  }
  for (const char* key :
       {"id", "predicted_s", "measured_s", "predicted_gb", "measured_gb", "skipped"}) {
    EXPECT_TRUE(json["rows"][0].contains(key)) << key;
  }
}

TEST(ValidateCommand, NamesWhatItDoesNotJudge) {
  const CliResult result = run_stagewright({"validate", RunsFile(3).path(), "--worst", "3"});
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  EXPECT_NE(result.out.find("plan.tp: is not stated"), std::string::npos);
  EXPECT_NE(result.out.find("time: slower than on half the devices"), std::string::npos);
  EXPECT_NE(result.out.find("plan.micro_batch (2: the largest that fits"), std::string::npos);
  EXPECT_NE(result.out.find("competing plans of"), std::string::npos);
}

TEST(ValidateCommand, SaysThatAFileIsMissing) {
  const CliResult result = run_stagewright({"validate", "no-such.jsonl"});
  EXPECT_EQ(result.code, ExitCode::kInvalidInput);
  EXPECT_NE(result.err.find("no-such.jsonl"), std::string::npos);
}

TEST(CalibrateCommand, RefusesToLeaveOutAnUnknownSource) {
  const CliResult result =
      run_stagewright({"calibrate", RunsFile(16).path(), "--without", "nosuch"});
  EXPECT_EQ(result.code, ExitCode::kInvalidInput);
  EXPECT_NE(result.err.find("--without: no record is of source 'nosuch'"), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("llm_foundry"), std::string::npos);
}

TEST(CalibrateCommand, SaysThatItNeedsSomething) {
  const CliResult result = run_stagewright({"calibrate"});
  EXPECT_EQ(result.code, ExitCode::kInvalidInput);
  EXPECT_NE(result.err.find("--nccl-log"), std::string::npos) << result.err;
}

// A log of an own cluster makes a folder that other commands take.
TEST(CalibrateCommand, WritesTheLinksOfAnOwnClusterForOtherCommands) {
  const TemporaryFolder folder;
  const std::string log = (folder.path() / "log").string();
  std::string text = "# Collective test starting: all_reduce_perf\n";
  for (const auto& [size, micros] : {std::pair{1048576, 250.0},
                                     std::pair{16777216, 1900.0},
                                     std::pair{268435456, 28000.0},
                                     std::pair{1073741824, 110000.0}}) {
    const std::string time = std::to_string(micros) + " 1 1 0 ";
    text += std::to_string(size) + " " + std::to_string(size / 4) + " float sum -1 " + time + time;
    text += "\n";
  }
  ASSERT_TRUE(write_file(log, text));
  const std::string out = (folder.path() / "own").string();
  const CliResult result = run_stagewright({"calibrate",
                                            "--nccl-log",
                                            log,
                                            "--log-devices",
                                            "4x8",
                                            "--device",
                                            "h100-sxm",
                                            "--out",
                                            out});
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  EXPECT_NE(result.out.find("on 4 x 8 devices"), std::string::npos) << result.out;
  const std::vector<std::string> command{
      "explain", "--costs", "--model", "llama3-8b", "--cluster", "8x8xh100-sxm", "--json"};
  std::vector<std::string> own{"--profiles", out};
  own.insert(own.end(), command.begin(), command.end());
  const CliResult usual = run_stagewright(command);
  const CliResult slower = run_stagewright(own);
  ASSERT_EQ(slower.code, ExitCode::kSuccess) << slower.err;
  EXPECT_GT(nlohmann::json::parse(slower.out)["step_s"].get<double>(),
            nlohmann::json::parse(usual.out)["step_s"].get<double>());
}

TEST(ExplainCosts, ListsEveryTermWithItsSource) {
  const CliResult result = run_stagewright({"explain",
                                            "--costs",
                                            "--model",
                                            "gpt3-175b",
                                            "--cluster",
                                            "32x8xa100-80gb-sxm",
                                            "--framework",
                                            "megatron",
                                            "--tp",
                                            "8",
                                            "--pp",
                                            "4",
                                            "--seq",
                                            "2048",
                                            "--global-batch",
                                            "1536",
                                            "--json"});
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  double sum = 0;
  for (const auto& term : json["terms"]) {
    sum += term["seconds"].get<double>();
    EXPECT_FALSE(term["formula"].get<std::string>().empty());
    EXPECT_FALSE(term["source"].get<std::string>().empty());
  }
  EXPECT_NEAR(sum, json["step_s"].get<double>(), 0.01 * sum);
  EXPECT_LT(json["band_s"][0].get<double>(), json["step_s"].get<double>());
}

}  // namespace
}  // namespace stagewright
