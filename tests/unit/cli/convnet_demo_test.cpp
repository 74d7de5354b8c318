#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "example_runs.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

// Measured, simulated with what was measured, trained without data, and compared.
TEST(ConvNetDemo, IsProfiledSimulatedTrainedAndCompared) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string plan = example("convnet-demo.plan.json");
  const std::string model = example("models/convnet-demo.json");
  run_well({"profile",
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
  run_well({"simulate",
            plan,
            "--model",
            model,
            "--profile",
            file("cpu.json"),
            "--trace",
            file("predicted.json")});
  const auto trained = nlohmann::json::parse(run_well(
      {"run", plan, "--model", model, "--steps", "8", "--trace", file("measured.json"), "--json"}));
  expect_falling_losses(trained, 8);
  expect_equal_memory(file("predicted.json"), file("measured.json"));
}

TEST(ConvNetDemo, IsPlannedWithoutTensorParallelism) {
  const auto searched = nlohmann::json::parse(run_well({"plan",
                                                        "--model",
                                                        example("models/convnet-demo.json"),
                                                        "--cluster",
                                                        "1x2xcpu",
                                                        "--global-batch",
                                                        "32",
                                                        "--json"}));
  expect_runnable_plans(searched);
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
