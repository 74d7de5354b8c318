#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "core/base/file.h"
#include "core/plan/plan.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

std::vector<std::string> plan_arguments(std::vector<std::string> more = {}) {
  std::vector<std::string> all{"plan",
                               "--model",
                               example("models/llama-3-70b/config.json"),
                               "--cluster",
                               "16x8xh100-sxm",
                               "--global-batch",
                               "1024",
                               "--seq",
                               "8192"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(PlanCommand, PrintsTheBestPlansWithTheirFigures) {
  const CliResult result = run_stagewright(plan_arguments({"--schedule", "1f1b"}));
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  for (const char* column : {"step", "tokens/s", "MFU", "peak memory", "bubble"}) {
    EXPECT_NE(result.out.find(column), std::string::npos) << column;
  }
  EXPECT_NE(result.out.find("rejected"), std::string::npos);
}

/// Counts, which are the same on every machine, in place of seconds.
TEST(PlanCommand, LargeSpacesTakeLittleWork) {
  const CliResult result = run_stagewright({"plan",
                                            "--model",
                                            "gpt3-175b",
                                            "--cluster",
                                            "128x8xa100-80gb-sxm",
                                            "--global-batch",
                                            "1536",
                                            "--seq",
                                            "2048",
                                            "--tp",
                                            "8",
                                            "--json"});
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto space = nlohmann::json::parse(result.out)["space"];
  EXPECT_GT(space["size"].get<std::int64_t>(), 50'000'000);
  EXPECT_LT(space["evaluated"].get<std::int64_t>(), 75'000);
  EXPECT_LE(space["simulated"].get<std::int64_t>(), 64);
}

double best_step(std::vector<std::string> options, const std::vector<std::string>& fixed) {
  options.insert(options.begin(), "plan");
  options.insert(options.end(), fixed.begin(), fixed.end());
  options.emplace_back("--json");
  const CliResult result = run_stagewright(options);
  EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
  return nlohmann::json::parse(result.out)["plans"][0]["step_time_s"].get<double>();
}

/// Both searches may stop within their gap of 1 %.
TEST(PlanCommand, FindsNothingBetterWhereMoreIsFixed) {
  struct Job {
    std::vector<std::string> options;
    std::vector<std::string> fixed;
  };
  const std::vector<std::string> gpt{
      "--model", "gpt3-175b", "--global-batch", "1536", "--seq", "2048", "--tp", "4"};
  const std::vector<std::string> llama{
      "--model", "llama3-70b", "--global-batch", "1024", "--seq", "4096", "--tp", "2,4"};
  const auto on = [](std::vector<std::string> options, const char* cluster) {
    options.insert(options.end(), {"--cluster", cluster});
    return options;
  };
  const std::vector<Job> jobs{
      {on(gpt, "64x8xa100-80gb-sxm"), {"--schedule", "dualpipe-v"}},
      {on(gpt, "64x8xa100-80gb-sxm"), {"--schedule", "1f1b,interleaved-1f1b"}},
      {on(gpt, "128x8xa100-80gb-sxm"), {"--pp", "8"}},
      {on(llama, "16x8xh100-sxm"), {"--schedule", "1f1b,interleaved-1f1b"}},
  };
  for (const Job& job : jobs) {
    EXPECT_LE(best_step(job.options, {}), 1.01 * best_step(job.options, job.fixed))
        << job.fixed.front() << " " << job.fixed.back();
  }
}

TEST(PlanCommand, MarksWhatTheRuntimeCannotTrain) {
  const CliResult here = run_stagewright({"plan",
                                          "--model",
                                          example("models/gpt-demo.json"),
                                          "--cluster",
                                          "1x2xcpu",
                                          "--global-batch",
                                          "8",
                                          "--seq",
                                          "64",
                                          "--json"});
  ASSERT_EQ(here.code, ExitCode::kSuccess) << here.err;
  const auto json = nlohmann::json::parse(here.out);
  for (const char* list : {"plans", "pareto"}) {
    ASSERT_FALSE(json[list].empty());
    for (const auto& entry : json[list]) {
      EXPECT_TRUE(entry["runnable"].get<bool>());
      EXPECT_FALSE(entry.contains("not_runnable_because"));
    }
  }
  const CliResult elsewhere = run_stagewright(plan_arguments());
  EXPECT_NE(elsewhere.out.find("`stagewright run` cannot train by plans 1, 2, 3"),
            std::string::npos);
  EXPECT_NE(elsewhere.out.find("ranks run on the CPU, the plan is for"), std::string::npos);
}

TEST(PlanCommand, JsonHoldsWholePlansBestFirstAndReasons) {
  const CliResult result = run_stagewright(plan_arguments({"--json"}));
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_FALSE(json["plans"].empty());
  double last = 0;
  for (const auto& entry : json["plans"]) {
    EXPECT_GE(entry["step_time_s"].get<double>(), last);
    last = entry["step_time_s"].get<double>();
    EXPECT_GT(entry["tokens_per_s"].get<double>(), 0);
    EXPECT_GT(entry["mfu"].get<double>(), 0);
    EXPECT_LT(entry["mfu"].get<double>(), 1);
    EXPECT_LE(entry["peak_memory_bytes"].get<std::int64_t>(), std::int64_t{80} << 30);
    EXPECT_GE(entry["bubble"].get<double>(), 0);
    const auto& memory = entry["memory"];
    EXPECT_GT(memory["terms_bytes"]["allocator reserve"].get<std::int64_t>(), 0);
    EXPECT_GT(memory["terms_bytes"]["parameters"].get<std::int64_t>(), 0);
    const auto plan = parse_plan(entry["plan"].dump(), "plan");
    ASSERT_TRUE(plan.has_value()) << plan.error().to_string();
    // The closed form of memory knows one recomputation for all stages, and other schedules'
    // activations less exactly.
    const auto alike = [&](const StagePlan& stage) {
      return stage.recompute == plan->stages.front().recompute && !stage.recompute_layers;
    };
    if (plan->schedule == "1f1b" && std::ranges::all_of(plan->stages, alike)) {
      EXPECT_NEAR(memory["allocated_bytes"].get<double>() /
                      (entry["peak_memory_bytes"].get<double>() - (std::int64_t{2} << 30)),
                  1,
                  0.06);
    }
    EXPECT_LE(plan->devices(), 128);
    EXPECT_EQ(plan->devices(), entry["devices"].get<int>());
    EXPECT_EQ(plan->global_batch(), 1024);
  }
  ASSERT_FALSE(json["rejected"].empty());
  EXPECT_FALSE(json["rejected"][0]["reason"].get<std::string>().empty());
  const auto& space = json["space"];
  const auto count = [](const nlohmann::json& value) { return value.get<std::int64_t>(); };
  std::int64_t all = count(space["evaluated"]) + count(space["duplicates"]) +
                     count(space["without_price"]) + count(space["left"]);
  for (const auto& pruned : space["pruned"]) {
    all += count(pruned);
  }
  EXPECT_EQ(count(space["size"]), all);
}

TEST(PlanCommand, WritesThePlanThatSimulateReadsWithTheSameStepTime) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "best.plan.json").string();
  const CliResult planned = run_stagewright(plan_arguments(
      {"--schedule", "interleaved-*", "--pp", "4..8", "--json", "--top", "1", "--out", path}));
  ASSERT_EQ(planned.code, ExitCode::kSuccess) << planned.err;
  const CliResult simulated = run_stagewright({"simulate", path, "--json"});
  ASSERT_EQ(simulated.code, ExitCode::kSuccess) << simulated.err;
  const auto plan = nlohmann::json::parse(planned.out)["plans"][0];
  const auto simulation = nlohmann::json::parse(simulated.out);
  EXPECT_EQ(plan["step_time_s"], simulation["step_time_s"]);
  EXPECT_EQ(plan["peak_memory_bytes"], simulation["peak_memory_bytes"]);
  EXPECT_EQ(plan["mfu"], simulation["mfu"]);
}

TEST(PlanCommand, NothingThatFitsSaysWhy) {
  const CliResult result = run_stagewright({"plan",
                                            "--model",
                                            "llama3-70b",
                                            "--cluster",
                                            "1x8xa100-40gb",
                                            "--global-batch",
                                            "8",
                                            "--seq",
                                            "8192"});
  EXPECT_EQ(result.code, ExitCode::kInfeasible);
  EXPECT_NE(result.err.find("out of memory"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("activations and loss"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("more memory"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace stagewright
