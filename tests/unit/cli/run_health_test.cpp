#include "cli/run_health.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "core/base/file.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;

StepProgress step(std::int32_t number, Duration time) {
  StepProgress progress;
  progress.step = number;
  progress.steps = 10;
  progress.loss = 2.5;
  progress.gradient_norm = 0.5;
  progress.step_time = time;
  progress.tokens = 1000;
  return progress;
}

Summary prediction() {
  Summary summary;
  summary.step_time = 80ms;
  summary.tokens_per_second = 12500;
  summary.mfu = 0.5;
  return summary;
}

TEST(RunHealth, SetsAStepBesideWhatWasPredicted) {
  RunHealth health(prediction(), Bytes(4096));
  health.add(step(0, 900ms));
  health.add(step(1, 100ms));
  health.add(step(2, 100ms));
  const auto line = nlohmann::json::parse(health.metrics_line());
  EXPECT_EQ(line["step"], 2);
  EXPECT_EQ(line["loss"], 2.5);
  EXPECT_EQ(line["tokens_per_s"], 10000);
  EXPECT_EQ(line["predicted_tokens_per_s"], 12500);
  EXPECT_DOUBLE_EQ(line["mfu"].get<double>(), 0.4);
  EXPECT_EQ(line["memory_bytes"], 4096);
  // The first step, which warms up, does not count for the seven to come.
  EXPECT_DOUBLE_EQ(line["time_left_s"].get<double>(), 0.7);
  EXPECT_EQ(health.progress_text(),
            "step 3/10  loss 2.5000  norm 0.500  100 ms  10k tokens/s (predicted 12.5k)  MFU 40.0 "
            "%  4 KiB  700 ms left");
}

TEST(RunHealth, LeavesOutWhatIsNotKnown) {
  RunHealth health(std::nullopt, Bytes(0));
  StepProgress progress = step(0, 100ms);
  progress.loss.reset();
  health.add(progress);
  const auto line = nlohmann::json::parse(health.metrics_line());
  EXPECT_TRUE(line["loss"].is_null());
  EXPECT_TRUE(line["mfu"].is_null());
  EXPECT_TRUE(line["predicted_tokens_per_s"].is_null());
}

TEST(MetricsOutput, IsWholeWhileTheRunGoesOn) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "metrics.jsonl").string();
  std::ostringstream out;
  MetricsOutput metrics(path, out);
  metrics.add("1\n");
  EXPECT_EQ(read_file(path).value(), "1\n");
  metrics.add("2\n");
  EXPECT_TRUE(metrics.finish());
  EXPECT_EQ(read_file(path).value(), "1\n2\n");
  EXPECT_EQ(out.str(), "");
}

TEST(RunProxy, TrainsALargePlanInSmall) {
  const TemporaryFolder folder;
  const std::string plan = (folder.path() / "large.plan.json").string();
  ASSERT_TRUE(write_file(plan, R"({"version": 1, "model": "llama3-70b", "cluster": "2x8xh100-sxm",
      "sequence": 8192, "global_batch": 64, "tp": 8, "pp": 2, "recompute": "full"})"));
  const CliResult result = run_stagewright({"run",
                                            plan,
                                            "--proxy",
                                            "--data",
                                            example("models"),
                                            "--steps",
                                            "3",
                                            "--check-replicas",
                                            "1",
                                            "--json"});
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  const auto& proxy = json["proxy"];
  const std::vector<std::string> shrunk = proxy["shrunk"];
  EXPECT_NE(std::ranges::find(shrunk, "hidden 8192 -> 128"), shrunk.end());
  EXPECT_EQ(proxy["one_rank_losses"].size(), 3U);
  // In bf16 layouts differ by its rounding, not by more.
  EXPECT_LT(proxy["largest_loss_difference"], 4e-3);
  EXPECT_GT(json["losses"][0], 0);
}

}  // namespace
}  // namespace stagewright
