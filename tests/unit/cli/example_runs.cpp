#include "example_runs.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"

namespace stagewright {

std::string run_well(const std::vector<std::string>& arguments) {
  const CliResult result = run_stagewright(arguments);
  EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
  return result.out;
}

void expect_falling_losses(const nlohmann::json& trained, std::size_t steps) {
  const auto losses = trained["losses"].get<std::vector<double>>();
  ASSERT_EQ(losses.size(), steps);
  EXPECT_LT(losses.back(), losses.front());
}

void expect_equal_memory(const std::string& predicted, const std::string& measured) {
  const auto comparison =
      nlohmann::json::parse(run_well({"compare", predicted, measured, "--json"}));
  ASSERT_FALSE(comparison["memory"].empty());
  for (const auto& memory : comparison["memory"]) {
    EXPECT_EQ(memory["predicted_bytes"], memory["measured_bytes"]) << memory.dump();
  }
}

void expect_runnable_plans(const nlohmann::json& searched) {
  ASSERT_FALSE(searched["plans"].empty());
  for (const auto& entry : searched["plans"]) {
    EXPECT_TRUE(entry["runnable"].get<bool>());
  }
}

}  // namespace stagewright
