// Ranks that know nothing of each other but what NCCL and rank 0 tell them, as in processes of
// their own; here each is a thread.

#include "runtime/trainer/own_process.h"

#include <array>
#include <future>
#include <optional>
#include <vector>

#include <gmock/gmock.h>

#include "free_port.h"
#include "runtime/trainer/sampled_batches.h"
#include "standin_library.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

constexpr std::int32_t kSteps = 2;
constexpr std::array<std::byte, 1> kAnyImage{};

[[nodiscard]] Schedule pipeline() {
  const Layout layout{.name = "dp2_pp2", .dp = 2, .pp = 2};
  return schedule_of(small_model(Style::kGpt, 3), layout, sgd());
}

/// What the rank's process would do.
[[nodiscard]] Result<RunReport> run_rank(const Schedule& schedule,
                                         int rank,
                                         std::uint16_t port,
                                         RunOptions options) {
  const TokenData data = learnable_tokens();
  const SampledBatches batches(data, schedule, kTrainingSeed);
  options.steps = kSteps;
  options.seed = kTrainingSeed;
  const auto prepared = run_one_rank(options,
                                     {.rank = rank,
                                      .ranks = static_cast<int>(schedule.ranks.size()),
                                      .local_rank = rank,
                                      .host = "127.0.0.1",
                                      .port = port,
                                      .token = "processes"},
                                     {.cuda_library = standin_cuda_file(),
                                      .cublas_lt_library = standin_cublas_lt_file(),
                                      .cudnn_library = standin_cudnn_file(),
                                      .image = kAnyImage,
                                      .gemm_workspace = Bytes(std::int64_t{1} << 16)},
                                     standin_nccl_file());
  if (!prepared) {
    return tl::unexpected<Error>(prepared.error());
  }
  const std::vector<const Schedule*> schedules(schedule.ranks.size(), &schedule);
  return run(schedules, batches, options);
}

[[nodiscard]] std::vector<Result<RunReport>> run_ranks(const Schedule& schedule) {
  configure_standins({});
  const std::uint16_t port = free_port();
  std::vector<std::future<Result<RunReport>>> running;
  for (int rank = 0; rank < static_cast<int>(schedule.ranks.size()); ++rank) {
    running.push_back(std::async(std::launch::async, [&schedule, rank, port] {
      return run_rank(schedule, rank, port, {});
    }));
  }
  std::vector<Result<RunReport>> reports;
  for (auto& each : running) {
    reports.push_back(each.get());
  }
  return reports;
}

TEST(OwnProcess, EveryRankGetsTheReportOfAll) {
  const Schedule schedule = pipeline();
  const auto expected = train(schedule, kSteps);
  ASSERT_TRUE(expected);
  const std::vector<Result<RunReport>> reports = run_ranks(schedule);
  EXPECT_EQ(problems_of_standins(), "");
  for (const Result<RunReport>& report : reports) {
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(report->trace.ranks, 4);
    EXPECT_EQ(report->memory, expected->memory);
    EXPECT_EQ(report->arenas, expected->arenas);
    EXPECT_EQ(report->executed, expected->executed);
    ASSERT_EQ(report->trace.losses.size(), expected->trace.losses.size());
    for (std::size_t i = 0; i < report->trace.losses.size(); ++i) {
      EXPECT_NEAR(report->trace.losses[i], expected->trace.losses[i], 1e-5);
      EXPECT_NEAR(report->trace.gradient_norms[i], expected->trace.gradient_norms[i], 1e-4);
    }
    // The same actions on the same ranks, and every message ends after it was sent.
    ASSERT_EQ(report->trace.events.size(), expected->trace.events.size());
    for (std::size_t i = 0; i < report->trace.events.size(); ++i) {
      EXPECT_EQ(report->trace.events[i].rank, expected->trace.events[i].rank);
      EXPECT_EQ(report->trace.events[i].action_index, expected->trace.events[i].action_index);
    }
    EXPECT_EQ(report->trace.step_times, reports.front()->trace.step_times);
  }
}

TEST(OwnProcess, ADeviceThatIsMissingIsAnError) {
  configure_standins({.devices = 1});
  RunOptions options;
  const auto prepared = run_one_rank(options,
                                     {.rank = 1, .ranks = 2, .local_rank = 1},
                                     {.cuda_library = standin_cuda_file(),
                                      .cublas_lt_library = standin_cublas_lt_file(),
                                      .cudnn_library = standin_cudnn_file(),
                                      .image = kAnyImage});
  configure_standins({});
  ASSERT_FALSE(prepared);
  EXPECT_THAT(prepared.error().message, testing::HasSubstr("no CUDA device 1: 1 are visible"));
  EXPECT_FALSE(options.make_world);
}

}  // namespace
}  // namespace stagewright
