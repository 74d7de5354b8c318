#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "core/base/file.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

std::string data_file(const std::string& name) {
  return (source_folder() / "tests/data" / name).string();
}

/// A recorded training step of a model with a heavy head becomes stages of equal time by that
/// record, and these are trained.
TEST(PytorchTrace, BecomesBalancedStagesThatRun) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const auto ok = [](const std::vector<std::string>& arguments) {
    const CliResult result = run_stagewright(arguments);
    EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
    return result.out;
  };
  const std::string model = data_file("traced_gpt.model.json");
  const auto traced = nlohmann::json::parse(ok({"profile",
                                                "--from-pytorch",
                                                data_file("traced_gpt.kineto.json"),
                                                "--model",
                                                model,
                                                "--out",
                                                file("profile.json"),
                                                "--json"}));
  EXPECT_EQ(traced["blocks"], "Block");
  ASSERT_EQ(traced["layers"].size(), 10U);
  ok({"plan",
      "--model",
      model,
      "--cluster",
      "1x2xcpu",
      "--global-batch",
      "16",
      "--micro-batch",
      "4",
      "--seq",
      "64",
      "--pp",
      "2",
      "--tp",
      "1",
      "--dp",
      "1",
      "--schedule",
      "1f1b",
      "--recompute",
      "none",
      "--profile",
      file("profile.json"),
      "--out",
      file("best.plan.json")});
  const auto plan = nlohmann::json::parse(read_file(file("best.plan.json")).value());
  ASSERT_EQ(plan["stages"].size(), 2U);
  std::vector<double> times;
  std::size_t layer = 0;
  for (const auto& stage : plan["stages"]) {
    double time = 0;
    for (int i = 0; i < stage["layers"].get<int>(); ++i, ++layer) {
      time += traced["layers"][layer]["forward_s"].get<double>() +
              traced["layers"][layer]["backward_s"].get<double>();
    }
    times.push_back(time);
  }
  EXPECT_EQ(layer, 10U);
  EXPECT_LT(std::ranges::max(times), 1.10 * std::ranges::min(times));
  // The head weighs twice as much as a block, so that halves of the layers are no halves of the
  // work.
  EXPECT_NE(plan["stages"][0]["layers"], plan["stages"][1]["layers"]);
  const auto run = nlohmann::json::parse(
      ok({"run", file("best.plan.json"), "--data", example("models"), "--steps", "2", "--json"}));
  EXPECT_EQ(run["losses"].size(), 2U);
  EXPECT_GT(run["losses"][0], run["losses"][1]);
}

TEST(PytorchTrace, SaysWhatDoesNotFit) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "p.json").string();
  const std::string trace = data_file("traced_gpt.kineto.json");
  const auto error = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"profile", "--from-pytorch", trace, "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CliResult result = run_stagewright(arguments);
    EXPECT_EQ(result.code, ExitCode::kInvalidInput) << result.out;
    return result.err;
  };
  const std::string model = data_file("traced_gpt.model.json");
  EXPECT_NE(error({"--model", model, "--micro-batch", "2"})
                .find("--micro-batch: is 2, but the trace has 4 sequences in a pass"),
            std::string::npos);
  EXPECT_NE(error({"--model", model, "--device-type", "h100"}).find("has no kernels"),
            std::string::npos);
  EXPECT_NE(error({"--model", "gpt2"}).find("no whole pass through 12 blocks"), std::string::npos);
  EXPECT_NE(error({"--model", model, "--blocks", "Head"}).find("called 'Head'"), std::string::npos);
}

}  // namespace
}  // namespace stagewright
