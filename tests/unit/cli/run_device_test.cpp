#include <cstdlib>

#include <gmock/gmock.h>

#include "cli_runner.h"

namespace stagewright {
namespace {

TEST(RunDevice, TheCpuRunsThePlanWhereThereIsNoCuda) {
  ::setenv("STAGEWRIGHT_CUDART_LIBRARY", "/no/such/library.so", 1);
  const std::string plan = example("encoder-tutorial.plan.json");
  const CliResult result =
      run_stagewright({"run", plan, "--data", plan, "--steps", "1", "--device", "cuda"});
  ::unsetenv("STAGEWRIGHT_CUDART_LIBRARY");
  EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
  EXPECT_THAT(result.err, testing::HasSubstr("the CPU runs the plan: "));
  EXPECT_THAT(result.out, testing::HasSubstr("loss"));
}

TEST(RunDevice, OthersAreRefused) {
  const std::string plan = example("encoder-tutorial.plan.json");
  const CliResult result =
      run_stagewright({"run", plan, "--data", plan, "--steps", "1", "--device", "tpu"});
  EXPECT_NE(result.code, ExitCode::kSuccess);
  EXPECT_THAT(result.err, testing::HasSubstr("--device"));
}

}  // namespace
}  // namespace stagewright
