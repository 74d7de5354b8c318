#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/backend_error.h"
#include "runtime/compute/cpu_device.h"
#include "runtime/trainer/sampled_batches.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

/// The CPU until its n-th operation, then something else.
class FaultyDevice final : public ComputeDevice {
 public:
  using Fault = std::function<void()>;
  FaultyDevice(int good, Fault fault) : good_(good), fault_(std::move(fault)) {}

  [[nodiscard]] std::string_view name() const override { return cpu_->name(); }
  [[nodiscard]] Result<void> check(const Operation& operation) const override {
    return cpu_->check(operation);
  }
  void execute(const BoundOperation& bound, const UpdateStep& step) override {
    if (good_-- == 0) {
      fault_();
    }
    cpu_->execute(bound, step);
  }

 private:
  std::unique_ptr<ComputeDevice> cpu_ = make_cpu_device();
  int good_;
  Fault fault_;
};

[[noreturn]] void break_down() {
  throw BackendError({ErrorCode::kBackendFailed, "the device fell off the bus", {}});
}

/// Longer than the limits below.  A thread cannot be ended from outside, so it must end by itself.
void hang_for_a_second() {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(1)) {
    std::this_thread::yield();
  }
}

class Failure : public testing::Test {
 protected:
  explicit Failure(const Layout& layout = {.name = "dp2_pp2", .dp = 2, .pp = 2})
      : schedule_(schedule_of(small_model(Style::kGpt, 2), layout, sgd())) {}

  [[nodiscard]] Result<RunReport> run_with(const RunOptions& options) const {
    const TokenData data = learnable_tokens();
    const SampledBatches batches(data, schedule_, 1);
    const std::vector<const Schedule*> schedules(schedule_.ranks.size(), &schedule_);
    return run(schedules, batches, options);
  }

  Schedule schedule_;
};

TEST_F(Failure, OfADeviceEndsEveryRankAndNamesRankAndAction) {
  RunOptions options;
  options.make_device = [](RankId rank) -> std::unique_ptr<ComputeDevice> {
    return rank == RankId(2) ? std::make_unique<FaultyDevice>(40, break_down) : make_cpu_device();
  };
  const auto report = run_with(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kBackendFailed);
  const std::string text = report.error().to_string();
  EXPECT_TRUE(text.starts_with("rank 2, step 1, action ")) << text;
  EXPECT_NE(text.find("the device fell off the bus"), std::string::npos) << text;
  EXPECT_NE(text.find("then at: rank 0, step 1, action "), std::string::npos) << text;
}

// A rank that hangs is found by those who wait for it.
TEST_F(Failure, OfAHungRankEndsTheRunWithinTheTimeout) {
  RunOptions options;
  options.timeout = std::chrono::milliseconds(200);
  options.make_device = [](RankId rank) -> std::unique_ptr<ComputeDevice> {
    if (rank == RankId(0)) {
      return std::make_unique<FaultyDevice>(40, hang_for_a_second);
    }
    return make_cpu_device();
  };
  const auto report = run_with(options);
  ASSERT_FALSE(report);
  const std::string text = report.error().to_string();
  EXPECT_NE(text.find("rank 0"), std::string::npos) << text;
}

TEST_F(Failure, DifferentSchedulesAreFoundBeforeTheFirstStep) {
  Schedule other = schedule_;
  other.optimizer.learning_rate *= 2;
  std::vector<const Schedule*> schedules(schedule_.ranks.size(), &schedule_);
  schedules[3] = &other;
  const TokenData data = learnable_tokens();
  const SampledBatches batches(data, schedule_, 1);
  RunOptions options;
  int steps = 0;
  options.on_step = [&steps](const StepProgress&) { ++steps; };
  const auto report = run(schedules, batches, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error(),
            (Error{ErrorCode::kInvalidInput,
                   "the ranks were given different schedules: rank 0 has " +
                       schedule_hash(schedule_) + ", rank 3 has " + schedule_hash(other) +
                       "; start all of them with the same schedule file",
                   "schedule hash"}));
  EXPECT_EQ(steps, 0);
}

TEST_F(Failure, AStopEndsTheRunAfterTheStep) {
  std::atomic<bool> stop = false;
  RunOptions options;
  options.steps = 100;
  options.stop = &stop;
  options.on_step = [&stop](const StepProgress& progress) { stop = progress.step == 2; };
  const auto report = run_with(options);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_TRUE(report->stopped);
  EXPECT_EQ(report->trace.steps, 3);
  EXPECT_EQ(report->trace.losses.size(), 3U);
}

TEST_F(Failure, AStopEndsAStepThatHangs) {
  std::atomic<bool> stop = false;
  RunOptions options;
  options.stop = &stop;
  options.stop_limit = std::chrono::milliseconds(100);
  options.make_device = [&stop](RankId rank) -> std::unique_ptr<ComputeDevice> {
    const auto stop_and_hang = [&stop] {
      stop = true;
      hang_for_a_second();
    };
    if (rank == RankId(0)) {
      return std::make_unique<FaultyDevice>(40, stop_and_hang);
    }
    return make_cpu_device();
  };
  const auto report = run_with(options);
  ASSERT_FALSE(report);
  EXPECT_TRUE(report.error().to_string().starts_with(
      "the step did not end within 100 ms after the stop was asked for"))
      << report.error().to_string();
}

TEST_F(Failure, PrecisionWithoutKernelsIsRefusedBeforeTheFirstStep) {
  for (RankProgram& program : schedule_.programs) {
    for (StageProgram& stage : program.stages) {
      for (Operation& operation : stage.forward) {
        operation.dtype = DType::kFloat8;
      }
    }
  }
  const auto report = run_with({});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(report.error().message.find("plan with bf16, fp16 or fp32"), std::string::npos)
      << report.error().to_string();
}

TEST_F(Failure, UnusableOptionsAreNamed) {
  RunOptions options;
  options.steps = 0;
  EXPECT_EQ(run_with(options).error(),
            (Error{ErrorCode::kInvalidInput, "0 steps; a run has at least one", "steps"}));
  options.steps = 1;
  options.data = "no such file.txt";
  EXPECT_EQ(run(schedule_, options).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stagewright
