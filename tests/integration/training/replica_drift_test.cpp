#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/compute/cpu_device.h"
#include "runtime/compute/optimizer_updates.h"
#include "runtime/trainer/sampled_batches.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

/// The CPU, which after its n-th update of a weight changes one bit of it.
class FlippingDevice final : public ComputeDevice {
 public:
  explicit FlippingDevice(int updates) : updates_(updates) {}

  [[nodiscard]] std::string_view name() const override { return cpu_->name(); }
  [[nodiscard]] Result<void> check(const Operation& operation) const override {
    return cpu_->check(operation);
  }
  void execute(const BoundOperation& bound, const UpdateStep& step) override {
    cpu_->execute(bound, step);
    if (is_update(*bound.operation) && --updates_ == 0) {
      static_cast<unsigned char*>(bound.outputs[0])[0] ^= 1U;
    }
  }

 private:
  std::unique_ptr<ComputeDevice> cpu_ = make_cpu_device();
  int updates_;
};

Result<RunReport> run_with_a_flipped_bit(const Layout& layout, RankId faulty, int updates) {
  const Schedule schedule = schedule_of(small_model(Style::kGpt, 2), layout, sgd());
  const TokenData data = learnable_tokens();
  const SampledBatches batches(data, schedule, 1);
  RunOptions options;
  options.steps = 8;
  options.check_replicas_every = 2;
  options.make_device = [=](RankId rank) -> std::unique_ptr<ComputeDevice> {
    return rank == faulty ? std::make_unique<FlippingDevice>(updates) : make_cpu_device();
  };
  return run(std::vector<const Schedule*>(schedule.ranks.size(), &schedule), batches, options);
}

TEST(ReplicaDrift, OfOneBitIsFoundAndNamed) {
  const auto report = run_with_a_flipped_bit({.name = "dp2", .dp = 2}, RankId(1), 3);
  ASSERT_FALSE(report);
  const std::string text = report.error().to_string();
  EXPECT_TRUE(text.starts_with("after step 4: replicas drift: '") ||
              text.starts_with("after step 2: replicas drift: '"))
      << text;
  EXPECT_NE(text.find("is not the same on ranks 0 and 1 (norms "), std::string::npos) << text;
}

TEST(ReplicaDrift, IsFoundBetweenTiedLayersOfAPipeline) {
  const auto report = run_with_a_flipped_bit({.name = "pp2", .pp = 2}, RankId(0), 1);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().to_string().find("'embedding.table'"), std::string::npos)
      << report.error().to_string();
}

TEST(ReplicaDrift, OfRanksThatShareNothingIsNone) {
  const auto report = run_with_a_flipped_bit({.name = "tp2", .tp = 2}, RankId(9), 1);
  EXPECT_TRUE(report) << report.error().to_string();
}

}  // namespace
}  // namespace stagewright
