#include "sim/cost/calibrated_cost.h"

#include <utility>

#include "core/base/check.h"
#include "sim/cost/kernel_time.h"

namespace stagewright {
namespace {

MatrixFormat format_of(DType type) {
  switch (type) {
    case DType::kFloat8:
      return MatrixFormat::kFloat8;
    case DType::kBFloat16:
      return MatrixFormat::kBFloat16;
    case DType::kFloat16:
      return MatrixFormat::kFloat16;
    case DType::kTf32:
      return MatrixFormat::kTf32;
    case DType::kFloat32:
    case DType::kInt32:
      return MatrixFormat::kFloat32;
  }
  SW_CHECK(false, "a listed element type");
}

class CalibratedCost final : public CostModel {
 public:
  CalibratedCost(StepConstants constants, const FrameworkProfile& framework)
      : constants_(std::move(constants)),
        timing_(constants_.timing(framework.timing_class)),
        attention_(framework.attention_kernel),
        fused_casts_(framework.fused_casts),
        fused_accumulation_(framework.fused_accumulation),
        gradient_32_(framework.gradient_32) {}

  [[nodiscard]] Price operation(const Operation& op, const DeviceType& device) const override {
    if (device.architecture.empty()) {
      return uncalibrated_->operation(op, device);
    }
    const KernelRates rates = rates_of(op, device);
    const bool learned = rates.learned != nullptr && learned_seconds(*rates.learned, op, device);
    return {from_seconds(seconds(op, rates)),
            learned ? PriceSource::kLearned : PriceSource::kAnalytical};
  }
  [[nodiscard]] std::optional<Price> segment(std::span<const Operation> ops,
                                             const DeviceType& device) const override {
    return uncalibrated_->segment(ops, device);
  }
  [[nodiscard]] Price collective(const Operation& op, const GroupGeometry& group) const override {
    return uncalibrated_->collective(op, group);
  }
  [[nodiscard]] Price transfer(Bytes size, const GroupGeometry& ends) const override {
    return uncalibrated_->transfer(size, ends);
  }

 private:
  [[nodiscard]] KernelRates rates_of(const Operation& op, const DeviceType& device) const {
    return kernel_rates({.device = &device,
                         .format = format_of(op.dtype),
                         .attention = attention_,
                         .fused_casts = fused_casts_,
                         .head_dim = op.shape.head_dim},
                        constants_,
                        timing_);
  }

  [[nodiscard]] double seconds(const Operation& op, const KernelRates& rates) const {
    switch (class_of(op.kind)) {
      case OpClass::kMatrix:
        return product(op, rates);
      case OpClass::kAttention:
        return attention(op, rates);
      case OpClass::kMemory:
        return static_cast<double>(bytes_moved(op).count()) / rates.memory + rates.kernel;
      case OpClass::kOptimizer:
        return static_cast<double>(bytes_moved(op).count()) / rates.optimizer + rates.kernel;
      case OpClass::kCollective:
        break;
    }
    SW_CHECK(false, "an operation that computes");
  }

  [[nodiscard]] double product(const Operation& op, const KernelRates& rates) const {
    auto rows = static_cast<double>(op.shape.rows);
    auto cols = static_cast<double>(op.shape.cols);
    if (op.transpose_a) {
      // A weight gradient (outputs, inputs); the closed form counts it as (inputs, outputs), which
      // is the same product with the sides of its tiles exchanged.
      std::swap(rows, cols);
    }
    const double time =
        product_seconds(rates, rates.product, rows, static_cast<double>(op.shape.inner), cols);
    const double added =
        op.accumulate ? accumulation_bytes(rates, gradient_32_, fused_accumulation_) : 0;
    return time + rows * cols * added / rates.memory;
  }

  [[nodiscard]] static double attention(const Operation& op, const KernelRates& rates) {
    const auto sequence = static_cast<double>(op.shape.sequence);
    const double causal =
        static_cast<double>(op.shape.batch) * flash_seconds(rates,
                                                            static_cast<double>(op.shape.heads),
                                                            sequence,
                                                            sequence,
                                                            static_cast<double>(op.shape.head_dim));
    const double scores = op.causal ? 1 : 2;
    const double products = op.kind == OpKind::kAttentionBackward ? kFlashBackward : 1;
    return causal * scores * products;
  }

  StepConstants constants_;
  TimingClass timing_;
  AttentionKernel attention_;
  bool fused_casts_;
  bool fused_accumulation_;
  bool gradient_32_;
  std::unique_ptr<CostModel> uncalibrated_ = make_analytical_cost();
};

}  // namespace

std::unique_ptr<CostModel> make_calibrated_cost(StepConstants constants,
                                                const FrameworkProfile& framework) {
  return std::make_unique<CalibratedCost>(std::move(constants), framework);
}

}  // namespace stagewright
