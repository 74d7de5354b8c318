// What fails in the middle of a run ends all its ranks, with words.

#include <chrono>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "nccl_worlds.h"
#include "runtime/executor/schedule_world.h"
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

/// Every kind of call, early and in the middle of the steps, by a layout that makes it.
struct Fault {
  std::string call;
  StandinFault fault;
  int rank;       ///< of its communicator
  int operation;  ///< of that kind
  Layout layout;
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.call << " #" << fault.operation << " of " << fault.layout.name;
}

class CudaFaults : public testing::TestWithParam<Fault> {};

TEST_P(CudaFaults, EndTheRunOfAllRanksAndAreNamed) {
  const Fault& fault = GetParam();
  const Style style = styles_of(fault.layout).front();
  const bool hangs = fault.fault == kStandinHang;
  const auto begin = std::chrono::steady_clock::now();
  const auto report =
      train_on_cuda(schedule_of(small_model(style, 3), fault.layout, sgd()),
                    {.timeout = std::chrono::seconds(hangs ? 1 : 20), .before_steps = [&fault] {
                       inject_nccl_fault_in(fault.call, fault.fault, fault.rank, fault.operation);
                     }});
  ASSERT_FALSE(report) << "no call of this kind had the fault";
  EXPECT_THAT(report.error().to_string(),
              hangs ? HasSubstr("waited 1 s for") : HasSubstr("the link went down (injected)"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

[[nodiscard]] std::vector<Fault> faults() {
  const Layout zero3{.name = "dp2_tp2_pp2_zero3", .dp = 2, .tp = 2, .pp = 2, .zero_stage = 3};
  const Layout experts{.name = "ep2", .dp = 2, .ep = 2, .experts = true};
  const Layout ring{.name = "cp2", .cp = 2};
  std::vector<Fault> all;
  for (const StandinFault fault : {kStandinAsyncError, kStandinHang}) {
    for (const int operation : {0, 9}) {
      for (const char* call : {"ncclAllReduce", "ncclAllGather", "ncclReduceScatter"}) {
        all.push_back({call, fault, 1, operation, zero3});
      }
      all.push_back({"ncclSend", fault, 0, operation, zero3});  // from a stage to the next
      all.push_back({"ncclRecv", fault, 1, operation, zero3});
      all.push_back({"ncclSend", fault, 1, operation, experts});  // of an all-to-all
      all.push_back({"ncclRecv", fault, 0, operation, ring});     // of a ring
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Calls, CudaFaults, testing::ValuesIn(faults()), [](const auto& chosen) {
  const Fault& fault = chosen.param;
  return fault.layout.name + (fault.fault == kStandinHang ? "_hang_" : "_error_") + fault.call +
         "_" + std::to_string(fault.operation);
});

class CudaStartFaults : public testing::TestWithParam<std::pair<std::string, int>> {};

// Before the first step: nobody waits for communicators that one rank does not get.
TEST_P(CudaStartFaults, EndTheStartOfAllRanks) {
  configure_standins({});
  inject_nccl_fault_in(GetParam().first, kStandinAsyncError, 1, GetParam().second);
  const auto world = make_nccl_worlds(
      world_of(pipeline_with_replicas()),
      {.timeout = std::chrono::seconds(20), .start_limit = std::chrono::seconds(60)});
  ASSERT_FALSE(world);
  EXPECT_THAT(world.error().to_string(), HasSubstr("unhandled system error"));
}

INSTANTIATE_TEST_SUITE_P(Calls,
                         CudaStartFaults,
                         testing::Values(std::pair{"ncclCommInitRank", 0},
                                         std::pair{"ncclCommSplit", 0},
                                         std::pair{"ncclCommSplit", 2},
                                         std::pair{"ncclAllReduce", 0}),
                         [](const auto& chosen) {
                           return chosen.param.first + "_" + std::to_string(chosen.param.second);
                         });

// At every place where memory is taken, from the first of the start to the last of the steps.
TEST(CudaFailures, EveryAllocationMayFail) {
  const Schedule schedule =
      schedule_of(small_model(Style::kGpt, 2), {.name = "dp2", .dp = 2}, sgd());
  int failed = 0;
  for (int succeed = 0; succeed < 500; ++succeed) {
    const auto report =
        train_on_cuda(schedule, {.steps = 2, .standins = {.allocations_until_failure = succeed}});
    if (report) {
      break;
    }
    ++failed;
    ASSERT_THAT(report.error().to_string(), HasSubstr("out of memory")) << "after " << succeed;
  }
  EXPECT_GT(failed, 8);
  EXPECT_LT(failed, 500);
}

}  // namespace
}  // namespace stagewright
