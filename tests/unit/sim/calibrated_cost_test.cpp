#include "sim/cost/calibrated_cost.h"

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "sim/cost/analytical_links.h"
#include "sim/cost/kernel_time.h"
#include "sim/cost/traffic_time.h"

namespace stagewright {
namespace {

class CalibratedCostTest : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] DeviceType device() const { return find_device(files_, GetParam()).value(); }
  [[nodiscard]] Duration price(const Operation& op) const {
    const Price price = cost_->operation(op, device());
    EXPECT_EQ(price.source, PriceSource::kAnalytical);
    return price.time;
  }
  /// As the closed form of the step has them for a bf16 run.
  [[nodiscard]] KernelRates rates() const {
    TrainingSetup setup;
    setup.device = device();
    setup.framework = framework_;
    return kernel_rates(setup, constants_, constants_.timing(framework_.timing_class));
  }

  DataFiles files_ = DataFiles::embedded();
  StepConstants constants_ = load_step_constants(files_).value();
  FrameworkProfile framework_ = find_framework(files_, "stagewright").value();
  std::unique_ptr<CostModel> cost_ = make_calibrated_cost(constants_, framework_);
};

Operation operation(OpKind kind, OpShape shape) {
  Operation op;
  op.kind = kind;
  op.dtype = DType::kBFloat16;
  op.shape = shape;
  return op;
}

TEST_P(CalibratedCostTest, ProductsCostWhatTheClosedFormSays) {
  const KernelRates rates = this->rates();
  EXPECT_EQ(price(operation(OpKind::kGemm, {.rows = 4096, .cols = 28672, .inner = 8192})),
            from_seconds(product_seconds(rates, rates.product, 4096, 8192, 28672)));
}

// Written (outputs, inputs), counted (inputs, outputs); the sum in fp32 is read and written and the
// 16-bit gradient read by a kernel of its own: 10 B a weight.
TEST_P(CalibratedCostTest, WeightGradientsPayForTheirSum) {
  const KernelRates rates = this->rates();
  Operation op = operation(OpKind::kGemm, {.rows = 1280, .cols = 8192, .inner = 4096});
  op.transpose_a = true;
  op.accumulate = true;
  EXPECT_EQ(price(op),
            from_seconds(product_seconds(rates, rates.product, 8192, 4096, 1280) +
                         10.0 * 1280 * 8192 / rates.memory));
}

TEST_P(CalibratedCostTest, AttentionCostsWhatTheClosedFormSays) {
  const OpShape shape{
      .rows = 8192, .batch = 2, .sequence = 4096, .heads = 8, .kv_heads = 2, .head_dim = 128};
  const KernelRates rates = this->rates();
  const double one = flash_seconds(rates, 8, 4096, 4096, 128);
  // Queries and keys are read and written once more; two kernels.
  const double arranged = 2.0 * 4096 * (8 + 2) * 128 * 4 / rates.memory + 2 * rates.kernel;
  Operation forward = operation(OpKind::kAttentionForward, shape);
  forward.causal = true;
  Operation backward = operation(OpKind::kAttentionBackward, shape);
  backward.causal = true;
  EXPECT_EQ(price(forward), from_seconds(arranged + 2 * one));
  EXPECT_EQ(price(backward), from_seconds(arranged + 2 * kFlashBackward * one));
  forward.causal = false;
  EXPECT_EQ(price(forward), from_seconds(arranged + 4 * one));
}

TEST_P(CalibratedCostTest, RowWiseOperationsAreBoundByMemory) {
  const KernelRates rates = this->rates();
  Operation sum = operation(OpKind::kAdd, {.rows = 4096, .cols = 8192});
  sum.layer = LayerId(0);
  EXPECT_EQ(price(sum), from_seconds(3.0 * 4096 * 8192 * 2 / rates.memory));
  EXPECT_EQ(price(operation(OpKind::kCopy, {.rows = 4096, .cols = 8192})),
            from_seconds(2.0 * 4096 * 8192 * 2 / rates.memory + rates.kernel));
}

INSTANTIATE_TEST_SUITE_P(Devices,
                         CalibratedCostTest,
                         testing::Values("a100-80gb-sxm", "h100-80gb-sxm"),
                         [](const auto& name) { return std::string(name.param).substr(0, 4); });

TEST(CalibratedCost, DevicesWithoutArchitectureKeepTheirFiles) {
  const DataFiles files = DataFiles::embedded();
  const DeviceType cpu = find_device(files, "cpu").value();
  const auto cost = make_calibrated_cost(load_step_constants(files).value(),
                                         find_framework(files, "stagewright").value());
  Operation op = operation(OpKind::kGemm, {.rows = 256, .cols = 512, .inner = 512});
  op.dtype = DType::kFloat32;
  EXPECT_EQ(cost->operation(op, cpu), make_analytical_cost()->operation(op, cpu));
}

// Between nodes collectives reach a calibrated share of the line rate, and each bucket of 160 MB
// pays for every node of the ring.
TEST(CalibratedCost, CollectivesCostWhatTheClosedFormSays) {
  const DataFiles files = DataFiles::embedded();
  const DeviceType device = find_device(files, "h100-80gb-sxm").value();
  const StepConstants constants = load_step_constants(files).value();
  const auto cost = make_calibrated_cost(constants, find_framework(files, "stagewright").value());
  GroupGeometry group{.members = 16,
                      .nodes = 2,
                      .members_per_node = 8,
                      .intra_node = device.intra_node,
                      .inter_node = device.inter_node};
  Operation op = operation(OpKind::kAllReduce, {.cols = 1 << 30});
  op.dtype = DType::kFloat32;
  const double bytes = 4.0 * (1 << 30);
  GroupGeometry shared = group;
  shared.inter_node.efficiency = constants[StepConstant::kNicShare];
  EXPECT_EQ(cost->collective(op, group).time,
            from_seconds(traffic_seconds(OpKind::kAllReduce, bytes, shared, constants, 27)));
  EXPECT_EQ(cost->transfer(Bytes(1 << 20), group).time, transfer_time(Bytes(1 << 20), shared));
}

}  // namespace
}  // namespace stagewright
