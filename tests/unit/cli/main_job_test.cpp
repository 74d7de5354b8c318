#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "core/base/file.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

/// The main job on a small model: profile, plan, simulate, run, compare.
TEST(MainJob, EndsWithPredictedBesideMeasured) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string model = example("models/gpt-demo.json");
  const auto ok = [](const std::vector<std::string>& arguments) {
    const CliResult result = run_stagewright(arguments);
    EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
    return result.out;
  };
  ok({"profile",
      "--model",
      model,
      "--ranks",
      "2",
      "--seq",
      "32",
      "--micro-batch",
      "1,2",
      "--steps",
      "2",
      "--out",
      file("profile.json")});
  ok({"plan",
      "--model",
      model,
      "--cluster",
      "1x2xcpu",
      "--global-batch",
      "4",
      "--seq",
      "32",
      "--profile",
      file("profile.json"),
      "--pp",
      "2",
      "--out",
      file("best.plan.json")});
  ok({"simulate",
      file("best.plan.json"),
      "--profile",
      file("profile.json"),
      "--trace",
      file("predicted.json")});
  ok({"run",
      file("best.plan.json"),
      "--data",
      example("models"),
      "--steps",
      "3",
      "--trace",
      file("measured.swtrace"),
      "--metrics",
      file("metrics.jsonl")});
  const auto comparison = nlohmann::json::parse(
      ok({"compare", file("predicted.json"), file("measured.swtrace"), "--json"}));
  EXPECT_GT(comparison["step"]["predicted_s"].get<double>(), 0);
  EXPECT_GT(comparison["step"]["measured_s"].get<double>(), 0);
  for (const auto& memory : comparison["memory"]) {
    EXPECT_EQ(memory["predicted_bytes"], memory["measured_bytes"]) << memory.dump();
  }
  const auto metrics = read_file(file("metrics.jsonl"));
  ASSERT_TRUE(metrics.has_value());
  EXPECT_EQ(std::ranges::count(*metrics, '\n'), 3);

  const std::string lines = ok({"run",
                                file("best.plan.json"),
                                "--data",
                                example("models"),
                                "--steps",
                                "2",
                                "--metrics",
                                "-"});
  EXPECT_TRUE(lines.starts_with("{")) << lines;
  EXPECT_NE(lines.find("\n{"), std::string::npos) << lines;

  const CliResult strict = run_stagewright(
      {"compare", file("predicted.json"), file("measured.swtrace"), "--max-error", "0"});
  EXPECT_EQ(strict.code, ExitCode::kCheckFailed);
}

/// More ranks than most machines have cores: by the virtual clock, and every report says so.
TEST(MainJob, RunsByTheVirtualClock) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const nlohmann::json plan = {{"version", 1},
                               {"model", example("models/gpt-demo.json")},
                               {"cluster", "1x4xcpu"},
                               {"pp", 4},
                               {"sequence", 16},
                               {"micro_batches", 4},
                               {"schedule", "1f1b"},
                               {"precision", {{"compute", "fp32"}}}};
  ASSERT_TRUE(write_file(file("pp4.plan.json"), plan.dump()));
  const CliResult ran = run_stagewright({"run",
                                         file("pp4.plan.json"),
                                         "--data",
                                         example("models"),
                                         "--steps",
                                         "3",
                                         "--clock",
                                         "virtual",
                                         "--trace",
                                         file("measured.json"),
                                         "--json"});
  ASSERT_EQ(ran.code, ExitCode::kSuccess) << ran.err;
  const auto run = nlohmann::json::parse(ran.out);
  EXPECT_EQ(run["clock"], "virtual");
  EXPECT_EQ(run["step_times_s"].size(), 3U);
  EXPECT_EQ(run["wall_step_times_s"].size(), 3U);
  EXPECT_NE(run["step_times_s"], run["wall_step_times_s"]);
  const std::vector<std::string> simulate = {
      "simulate", file("pp4.plan.json"), "--trace", file("predicted.json")};
  ASSERT_EQ(run_stagewright(simulate).code, ExitCode::kSuccess);
  std::vector<std::string> compare = {"compare", file("predicted.json"), file("measured.json")};
  const std::string text = run_stagewright(compare).out;
  EXPECT_NE(text.find("clock of the measurement: virtual"), std::string::npos) << text;
  EXPECT_NE(text.find("measured step longer because of"), std::string::npos) << text;
  EXPECT_NE(text.find("inherited"), std::string::npos) << text;
  compare.emplace_back("--json");
  const auto comparison = nlohmann::json::parse(run_stagewright(compare).out);
  EXPECT_EQ(comparison["measured_clock"], "virtual");
  double explained = 0;
  for (const auto& effect : comparison["step_effects"]) {
    explained += effect["effect_s"].get<double>();
  }
  EXPECT_NEAR(explained,
              comparison["step"]["measured_s"].get<double>() -
                  comparison["step"]["predicted_s"].get<double>(),
              1e-9);
}

TEST(MainJob, HelpTeachesTheCommandsAndTheExitCodes) {
  const CliResult help = run_stagewright({"--help"});
  EXPECT_EQ(help.code, ExitCode::kSuccess);
  for (const char* part : {"profile", "plan", "simulate", "run", "compare", "Exit codes"}) {
    EXPECT_NE(help.out.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace stagewright
