#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"

namespace stagewright {
namespace {

constexpr const char* kRuns = STAGEWRIGHT_TEST_DATA "/measured_runs.jsonl";

TEST(ValidateCommand, PrintsTheReportAsJson) {
  const CliResult result = run_stagewright({"validate", kRuns, "--json"});
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
  const CliResult result = run_stagewright({"validate", kRuns, "--worst", "3"});
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  EXPECT_NE(result.out.find("plan.micro_batch: is not stated"), std::string::npos);
  EXPECT_NE(result.out.find("competing plans of"), std::string::npos);
}

TEST(ValidateCommand, SaysThatAFileIsMissing) {
  const CliResult result = run_stagewright({"validate", "no-such.jsonl"});
  EXPECT_EQ(result.code, ExitCode::kInvalidInput);
  EXPECT_NE(result.err.find("no-such.jsonl"), std::string::npos);
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
