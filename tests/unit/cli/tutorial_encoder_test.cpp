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

// Encoder layers of width 512, post-norm, ReLU, dropout, squared error, Adam; two stages, 4 chunks.
TEST(TutorialEncoder, IsSimulatedTrainedAndCompared) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string plan = example("encoder-tutorial.plan.json");
  const std::string model = example("models/encoder-tutorial.json");
  ok({"simulate", plan, "--model", model, "--trace", file("predicted.json")});
  const auto trained = nlohmann::json::parse(ok({"run",
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
  const auto losses = trained["losses"].get<std::vector<double>>();
  ASSERT_EQ(losses.size(), 4U);
  EXPECT_LT(losses.back(), losses.front());
  const auto comparison = nlohmann::json::parse(
      ok({"compare", file("predicted.json"), file("measured.json"), "--json"}));
  ASSERT_FALSE(comparison["memory"].empty());
  for (const auto& memory : comparison["memory"]) {
    EXPECT_EQ(memory["predicted_bytes"], memory["measured_bytes"]) << memory.dump();
  }
}

TEST(TutorialEncoder, IsPlanned) {
  const auto searched = nlohmann::json::parse(ok({"plan",
                                                  "--model",
                                                  example("models/encoder-tutorial.json"),
                                                  "--cluster",
                                                  "1x2xcpu",
                                                  "--global-batch",
                                                  "8",
                                                  "--seq",
                                                  "64",
                                                  "--json"}));
  ASSERT_FALSE(searched["plans"].empty());
  for (const auto& entry : searched["plans"]) {
    EXPECT_TRUE(entry["runnable"].get<bool>());
  }
}

}  // namespace
}  // namespace stagewright
