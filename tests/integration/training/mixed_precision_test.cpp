#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/compute/cpu_device.h"
#include "runtime/trainer/sampled_batches.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

[[nodiscard]] RunReport trained(Style style, const Layout& layout, const OptimizerSpec& optimizer) {
  auto report = train(schedule_of(small_model(style), layout, optimizer), kComparedSteps);
  EXPECT_TRUE(report) << report.error().to_string();
  return report ? std::move(*report) : RunReport{};
}

/// The largest relative distance of two series.
[[nodiscard]] double distance(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]) / std::abs(b[i]));
  }
  return largest;
}

[[nodiscard]] std::vector<Layout> layouts() {
  return {
      {.name = "dp2", .dp = 2},
      {.name = "tp2", .tp = 2},
      {.name = "pp2_zb_h1", .pp = 2, .schedule = "zb-h1"},
      {.name = "pp2_full", .pp = 2, .recompute = Recompute::kFull},
      {.name = "sp2_pp2", .tp = 2, .pp = 2, .sequence_parallel = true},
      {.name = "dp2_zero1", .dp = 2, .zero_stage = 1},
      {.name = "dp2_pp2_zero2", .dp = 2, .pp = 2, .zero_stage = 2},
      {.name = "dp2_tp2_pp2_zero3", .dp = 2, .tp = 2, .pp = 2, .zero_stage = 3},
  };
}

class MixedPrecision : public testing::TestWithParam<std::tuple<Style, DType, Layout>> {
 protected:
  /// Bounds on the distance of losses and of gradient norms.
  static void expect_near(const OptimizerSpec& optimizer, double losses, double norms) {
    auto [style, type, layout] = GetParam();
    layout.compute = type;
    const Layout alone{.name = "one_rank", .compute = type};
    const RunReport expected = trained(style, alone, optimizer);
    const RunReport actual = trained(style, layout, optimizer);
    EXPECT_LE(distance(actual.trace.losses, expected.trace.losses), losses);
    EXPECT_LE(distance(actual.trace.gradient_norms, expected.trace.gradient_norms), norms);
    EXPECT_EQ(actual.skipped_steps, expected.skipped_steps);
    EXPECT_EQ(actual.loss_scale, expected.loss_scale);
    if constexpr (kLossFalls) {
      EXPECT_LT(actual.trace.losses.back(), 0.97 * actual.trace.losses.front());
    }
  }
};

// Activations and their gradients are rounded to 8 bits (bf16) or 11 (fp16), at other places in
// sums over tensor groups.  One rounding is 2^-9 or 2^-12 of a value.
TEST_P(MixedPrecision, GivesNearlyTheLossesOfOneRank) {
  const bool short_fraction = std::get<1>(GetParam()) == DType::kBFloat16;
  expect_near(adamw(), short_fraction ? 4e-3 : 1e-3, short_fraction ? 4e-2 : 1e-2);
}

INSTANTIATE_TEST_SUITE_P(Layouts,
                         MixedPrecision,
                         testing::Combine(testing::Values(Style::kGpt, Style::kLlama),
                                          testing::Values(DType::kBFloat16, DType::kFloat16),
                                          testing::ValuesIn(layouts())),
                         [](const auto& chosen) {
                           const bool is_gpt = std::get<0>(chosen.param) == Style::kGpt;
                           return std::string(is_gpt ? "gpt_" : "llama_") +
                                  std::string(name_of(std::get<1>(chosen.param))) + "_" +
                                  std::get<2>(chosen.param).name;
                         });

// The same weights to start from (but for their rounding) and fp32 masters: the curve is that of
// fp32 within the rounding of activations, under both optimizers.
TEST(MixedPrecisionAlone, FollowsFp32) {
  OptimizerSpec momentum = sgd();
  momentum.momentum = 0.5;
  for (const OptimizerSpec& optimizer : {sgd(), momentum, adamw()}) {
    const RunReport expected = trained(Style::kLlama, {.name = "fp32"}, optimizer);
    for (const DType type : {DType::kBFloat16, DType::kFloat16}) {
      const RunReport actual = trained(Style::kLlama, {.name = "low", .compute = type}, optimizer);
      EXPECT_LE(distance(actual.trace.losses, expected.trace.losses),
                type == DType::kBFloat16 ? 1e-2 : 2e-3)
          << name_of(type);
    }
  }
}

// Recomputation and pipelines round at the same places.
TEST(MixedPrecisionAlone, RecomputationGivesTheVeryBits) {
  for (const DType type : {DType::kBFloat16, DType::kFloat16}) {
    const RunReport kept = trained(Style::kGpt, {.name = "kept", .compute = type}, sgd());
    const RunReport again = trained(
        Style::kGpt, {.name = "again", .recompute = Recompute::kFull, .compute = type}, sgd());
    EXPECT_EQ(again.trace.losses, kept.trace.losses);
    EXPECT_EQ(again.trace.gradient_norms, kept.trace.gradient_norms);
  }
}

/// The CPU, but in some steps the forward of a layer makes a NaN.
/// Counts the updates that it is asked for in those.
class BrokenLayer final : public ComputeDevice {
 public:
  BrokenLayer(LayerId layer,
              std::int64_t first_step,
              std::int64_t last_step,
              std::atomic<int>* updates)
      : layer_(layer), first_(first_step), last_(last_step), updates_(updates) {}

  [[nodiscard]] std::string_view name() const override { return cpu_->name(); }
  [[nodiscard]] Result<void> check(const Operation& operation) const override {
    return cpu_->check(operation);
  }
  void execute(const BoundOperation& bound, const UpdateStep& step) override {
    cpu_->execute(bound, step);
    if (step.number < first_ || step.number > last_) {
      return;
    }
    if (bound.operation->kind == OpKind::kActivationForward && bound.operation->layer == layer_) {
      *static_cast<float*>(bound.outputs[0]) = std::numeric_limits<float>::quiet_NaN();
    }
    if (class_of(bound.operation->kind) == OpClass::kOptimizer &&
        bound.operation->kind != OpKind::kSquaredSum) {
      ++*updates_;
    }
  }

 private:
  std::unique_ptr<ComputeDevice> cpu_ = make_cpu_device();
  LayerId layer_;
  std::int64_t first_;
  std::int64_t last_;
  std::atomic<int>* updates_;
};

class NotANumber : public testing::Test {
 protected:
  [[nodiscard]] Result<RunReport> run_broken(std::int64_t first, std::int64_t last) {
    const TokenData data = learnable_tokens();
    const SampledBatches batches(data, schedule_, 1);
    RunOptions options;
    options.steps = 8;
    options.make_device = [this, first, last](RankId) {
      return std::make_unique<BrokenLayer>(LayerId(2), first, last, &updates_);
    };
    const std::vector<const Schedule*> schedules(schedule_.ranks.size(), &schedule_);
    return run(schedules, batches, options);
  }

  Schedule schedule_ =
      schedule_of(small_model(Style::kGpt, 2), {.name = "dp2_tp2", .dp = 2, .tp = 2}, adamw());
  std::atomic<int> updates_ = 0;  ///< asked for in broken steps
};

TEST_F(NotANumber, SkipsTheStepOnAllRanks) {
  const auto report = run_broken(3, 4);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->skipped_steps, 2);
  for (std::size_t step = 0; step < 8; ++step) {
    EXPECT_EQ(std::isfinite(report->trace.losses[step]), step != 2 && step != 3) << step;
  }
}

// Layer 2 is the second block; the first micro-batch's forward comes to it first.
TEST_F(NotANumber, EndsTheRunNamingTheLayer) {
  const auto report = run_broken(3, 8);
  ASSERT_FALSE(report);
  const std::string message = report.error().to_string();
  EXPECT_NE(message.find("'block.1.activation' holds NaN or infinity"), std::string::npos)
      << message;
  EXPECT_NE(message.find("step 5"), std::string::npos) << message;
}

// Updates that wait for nothing are left out by each rank whose own gradients are no numbers, and
// the run ends after the first such step, since ranks may have decided it differently.
TEST_F(NotANumber, ChangesNoWeightWithoutClippingEither) {
  for (const Layout& layout :
       {Layout{.name = "pp2", .pp = 2}, Layout{.name = "dp2_zero1", .dp = 2, .zero_stage = 1}}) {
    schedule_ = schedule_of(small_model(Style::kGpt, 2), layout, without_clipping(sgd()));
    updates_ = 0;
    const auto report = run_broken(3, 8);
    ASSERT_FALSE(report) << layout.name;
    const std::string message = report.error().to_string();
    EXPECT_NE(message.find("'block.1.activation' holds NaN or infinity"), std::string::npos)
        << message;
    EXPECT_NE(message.find("step 3"), std::string::npos) << message;
    EXPECT_EQ(updates_, 0) << layout.name;
  }
}

}  // namespace
}  // namespace stagewright
