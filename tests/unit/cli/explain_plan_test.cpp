#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "core/base/file.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

/// `command` of one job, and what else it is told.
std::vector<std::string> of_job(const std::string& command, const std::vector<std::string>& more) {
  std::vector<std::string> all{command,
                               "--model",
                               "gpt2",
                               "--cluster",
                               "1x4xh100-sxm",
                               "--global-batch",
                               "16",
                               "--threads",
                               "1"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<std::string> explain_plan(const std::vector<std::string>& more) {
  return of_job("explain", more);
}

TEST(ExplainPlan, JsonSharesAddUpToTheStepOfThePlanner) {
  // What to measure next comes from the closed form, which knows few schedules.
  const CliResult result = run_stagewright(
      explain_plan({"--schedule", "1f1b", "--only", "limits,rules,next", "--json"}));
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  double sum = 0;
  double seconds = 0;
  double last = 1;
  for (const auto& term : json["limits"]) {
    EXPECT_LE(term["share"].get<double>(), last);
    last = term["share"];
    sum += term["share"].get<double>();
    seconds += term["seconds"].get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_NEAR(seconds, json["step_time_s"].get<double>(), 1e-9);
  EXPECT_EQ(json["rules"].size(), 6U);
  EXPECT_FALSE(json.contains("what_if"));
  double band = 0;
  for (const auto& next : json["next_measurements"]) {
    band += next["share"].get<double>();
    EXPECT_NE(next["command"].get<std::string>().find("stagewright"), std::string::npos);
  }
  EXPECT_NEAR(band, 1, 1e-6);

  const CliResult planned = run_stagewright(of_job("plan", {"--schedule", "1f1b", "--json"}));
  ASSERT_EQ(planned.code, ExitCode::kSuccess) << planned.err;
  const auto best = nlohmann::json::parse(planned.out)["plans"][0];
  EXPECT_EQ(json["step_time_s"], best["step_time_s"]);
  EXPECT_EQ(json["plan"]["stages"], best["plan"]["stages"]);
}

TEST(ExplainPlan, AnswersWhyNotWithPlanOrReason) {
  const CliResult result = run_stagewright(
      explain_plan({"--only", "limits", "--why-not", "tp=2,pp=2", "--why-not", "tp=5", "--json"}));
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json["why_not"].size(), 2U);
  const auto& there_is = json["why_not"][0];
  const double change = there_is["step_time_s"].get<double>() - json["step_time_s"].get<double>();
  EXPECT_GE(change, 0);
  double sum = 0;
  for (const auto& term : there_is["differences"]) {
    sum += term["change_s"].get<double>();
  }
  EXPECT_NEAR(sum, change, 1e-9);
  EXPECT_NE(json["why_not"][1]["reason"].get<std::string>().find("not divisible by tp 5"),
            std::string::npos);
}

TEST(ExplainPlan, OfAFileThatDoesNotFitListsFixes) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "plan.json").string();
  ASSERT_TRUE(write_file(path,
                         R"({"version": 1, "model": "llama3-8b", "cluster": "1x8xh100-sxm",
                             "dp": 8, "tp": 1, "pp": 1, "sequence": 2048,
                             "micro_batch_size": 1, "micro_batches": 2})")
                  .has_value());
  const CliResult result = run_stagewright({"explain", path, "--only", "memory", "--json"});
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto memory = nlohmann::json::parse(result.out)["memory"];
  EXPECT_FALSE(memory["fits"].get<bool>());
  for (const auto& rank : memory["ranks"]) {
    std::int64_t sum = 0;
    for (const auto& [component, bytes] : rank["components_bytes"].items()) {
      sum += bytes.get<std::int64_t>();
    }
    EXPECT_EQ(sum, rank["total_bytes"]);
  }
  ASSERT_FALSE(memory["fixes"].empty());
  EXPECT_TRUE(memory["fixes"][0]["fits"].get<bool>());
  const CliResult text = run_stagewright({"explain", path, "--only", "memory"});
  EXPECT_NE(text.out.find("It does not fit"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("ZeRO 1"), std::string::npos) << text.out;
}

TEST(ExplainPlan, RefusesOptionsWithoutEffect) {
  struct Case {
    std::vector<std::string> more;
    const char* text;
  };
  for (const Case& one : {Case{{"--attention", "flash"}, "--attention"},
                          Case{{"--why-not", "ttp=2"}, "no dimension 'ttp'"},
                          Case{{"--given", "tp=2", "--tp", "4"}, "--tp is given twice"},
                          Case{{"--memory", "--why-not", "tp=2"}, "--why-not"}}) {
    const CliResult result = run_stagewright(explain_plan(one.more));
    EXPECT_NE(result.code, ExitCode::kSuccess) << one.text;
    EXPECT_NE(result.err.find(one.text), std::string::npos) << result.err;
  }
  const CliResult nothing = run_stagewright({"explain"});
  EXPECT_EQ(nothing.code, ExitCode::kUsage);
  EXPECT_NE(nothing.err.find("a plan file, or --model"), std::string::npos) << nothing.err;
}

}  // namespace
}  // namespace stagewright
