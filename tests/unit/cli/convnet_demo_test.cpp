#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

std::string ok(const std::vector<std::string>& arguments) {
  const CliResult result = run_stagewright(arguments);
  EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
  return result.out;
}

// Measured, simulated with what was measured, trained without data, and compared.
TEST(ConvNetDemo, IsProfiledSimulatedTrainedAndCompared) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string plan = example("convnet-demo.plan.json");
  const std::string model = example("models/convnet-demo.json");
  ok({"profile",
      "--model",
      model,
      "--ranks",
      "2",
      "--micro-batch",
      "8",
      "--steps",
      "2",
      "--out",
      file("cpu.json")});
  ok({"simulate",
      plan,
      "--model",
      model,
      "--profile",
      file("cpu.json"),
      "--trace",
      file("predicted.json")});
  const auto trained = nlohmann::json::parse(ok(
      {"run", plan, "--model", model, "--steps", "8", "--trace", file("measured.json"), "--json"}));
  const auto losses = trained["losses"].get<std::vector<double>>();
  ASSERT_EQ(losses.size(), 8U);
  EXPECT_LT(losses.back(), losses.front());
  const auto comparison = nlohmann::json::parse(
      ok({"compare", file("predicted.json"), file("measured.json"), "--json"}));
  ASSERT_FALSE(comparison["memory"].empty());
  for (const auto& memory : comparison["memory"]) {
    EXPECT_EQ(memory["predicted_bytes"], memory["measured_bytes"]) << memory.dump();
  }
}

TEST(ConvNetDemo, IsPlannedWithoutTensorParallelism) {
  const auto searched = nlohmann::json::parse(ok({"plan",
                                                  "--model",
                                                  example("models/convnet-demo.json"),
                                                  "--cluster",
                                                  "1x2xcpu",
                                                  "--global-batch",
                                                  "32",
                                                  "--json"}));
  ASSERT_FALSE(searched["plans"].empty());
  for (const auto& entry : searched["plans"]) {
    EXPECT_TRUE(entry["runnable"].get<bool>());
  }
}

TEST(ConvNetDemo, SaysWhatItCannotDo) {
  const CliResult divided = run_stagewright({"plan",
                                             "--model",
                                             "alexnet",
                                             "--cluster",
                                             "1x8xa100-80gb-sxm",
                                             "--global-batch",
                                             "1024",
                                             "--tp",
                                             "2"});
  EXPECT_NE(divided.code, ExitCode::kSuccess);
  EXPECT_NE(divided.err.find("convolutions, which are not divided"), std::string::npos)
      << divided.err;
  const CliResult proxy = run_stagewright({"run",
                                           example("convnet-demo.plan.json"),
                                           "--model",
                                           example("models/convnet-demo.json"),
                                           "--proxy"});
  EXPECT_NE(proxy.code, ExitCode::kSuccess);
  EXPECT_NE(proxy.err.find("convolutional network"), std::string::npos) << proxy.err;
  const CliResult nothing = run_stagewright({"run",
                                             example("encoder-tutorial.plan.json"),
                                             "--model",
                                             example("models/encoder-tutorial.json")});
  EXPECT_EQ(nothing.code, ExitCode::kInvalidInput);
  EXPECT_NE(nothing.err.find("nothing to train on"), std::string::npos) << nothing.err;
}

}  // namespace
}  // namespace stagewright
