#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "example_runs.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

// Encoder layers of width 512, post-norm, ReLU, dropout, squared error, Adam; two stages, 4 chunks.
TEST(TutorialEncoder, IsSimulatedTrainedAndCompared) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string plan = example("encoder-tutorial.plan.json");
  const std::string model = example("models/encoder-tutorial.json");
  run_well({"simulate", plan, "--model", model, "--trace", file("predicted.json")});
  const auto trained = nlohmann::json::parse(run_well({"run",
                                                       plan,
                                                       "--model",
                                                       model,
                                                       "--data",
                                                       example("models"),
                                                       "--steps",
                                                       "4",
                                                       "--trace",
                                                       file("measured.json"),
                                                       "--json"}));
  expect_falling_losses(trained, 4);
  expect_equal_memory(file("predicted.json"), file("measured.json"));
}

TEST(TutorialEncoder, IsPlanned) {
  const auto searched = nlohmann::json::parse(run_well({"plan",
                                                        "--model",
                                                        example("models/encoder-tutorial.json"),
                                                        "--cluster",
                                                        "1x2xcpu",
                                                        "--global-batch",
                                                        "8",
                                                        "--seq",
                                                        "64",
                                                        "--json"}));
  expect_runnable_plans(searched);
}

}  // namespace
}  // namespace stagewright
