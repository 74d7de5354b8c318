// What fails in the middle of a run ends all its ranks, with words.

#include <gmock/gmock.h>

#include "standin_library.h"
#include "tests/integration/cuda/cuda_runs.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

using testing::HasSubstr;

[[nodiscard]] Schedule pipeline_with_replicas() {
  return schedule_of(
      small_model(Style::kGpt, 3), {.name = "dp2_tp2_pp2", .dp = 2, .tp = 2, .pp = 2}, sgd());
}

/// How a run ended in which something went wrong after its world stood.
[[nodiscard]] std::string failure_of(const CudaRun& run) {
  const auto report = train_on_cuda(pipeline_with_replicas(), run);
  EXPECT_FALSE(report);
  return report ? std::string() : report.error().to_string();
}

TEST(CudaFailures, AnAsynchronousErrorOfNcclEndsTheRun) {
  const std::string error =
      failure_of({.before_steps = [] { inject_nccl_fault(kStandinAsyncError, 1, 20); }});
  EXPECT_THAT(error, HasSubstr("NCCL reports a failure"));
  EXPECT_THAT(error, HasSubstr("the link went down (injected)"));
}

TEST(CudaFailures, AHangEndsTheRunWithinItsLimit) {
  const std::string error = failure_of({.timeout = std::chrono::seconds(2), .before_steps = [] {
                                          inject_nccl_fault(kStandinHang, 0, 30);
                                        }});
  EXPECT_THAT(error, HasSubstr("waited"));
}

TEST(CudaFailures, MemoryThatDoesNotSufficeIsNamed) {
  const std::string error =
      failure_of({.before_steps = [] { configure_standins({.allocations_until_failure = 20}); }});
  EXPECT_THAT(error, HasSubstr("out of memory"));
}

TEST(CudaFailures, MemoryThatDoesNotSufficeForAllRanksOfADeviceIsNamed) {
  const auto report =
      train_on_one_device(pipeline_with_replicas(), {.before_steps = [] {
                            configure_standins({.devices = 1, .allocations_until_failure = 20});
                          }});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().to_string(), HasSubstr("out of memory"));
}

}  // namespace
}  // namespace stagewright
