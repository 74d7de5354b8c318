#include "sim/cost/calibrated_cost.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "sim/cost/analytical_links.h"
#include "sim/cost/kernel_time.h"
#include "sim/cost/learned_kernels.h"
#include "sim/cost/product_sizes.h"
#include "sim/cost/row_kernels.h"
#include "sim/cost/traffic_time.h"

namespace stagewright {
namespace {

bool is_narrow(MatrixFormat format) {
  return format == MatrixFormat::kFloat8 || format == MatrixFormat::kFloat8Blocks ||
         format == MatrixFormat::kFloat4;
}

/// `narrow` is what products in few bits are scaled by, which element types do not say.
MatrixFormat format_of(DType type, MatrixFormat narrow) {
  switch (type) {
    case DType::kFloat8:
      return narrow;
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

/// Kernels that the host issues for an operation; those of a layer add up to kForwardKernels and
/// kBackwardKernels with what row_kernels.h adds.
struct IssuedKernels {
  double base = 0;   ///< of which compilation leaves a share
  double added = 0;  ///< beyond the layer's usual ones
};

class CalibratedCost final : public CostModel {
 public:
  CalibratedCost(StepConstants constants, const TrainingSetup& setup)
      : constants_(std::move(constants)),
        timing_(constants_.timing(setup.framework.timing_class)),
        choices_(choices_of(setup)),
        rules_(execution_rules(constants_, setup)),
        softmax_(setup.framework.fused_softmax),
        narrow_(is_narrow(setup.run.format) ? setup.run.format : MatrixFormat::kFloat8),
        by_layer_(setup.run.zero_stage == 3),
        once_per_node_(setup.framework.dispatches_once_per_node),
        visited_(static_cast<double>(setup.run.shape.experts_per_token)),
        gradient_bucket_(setup.framework.gradient_bucket),
        links_(setup.device.name.empty() || !setup.device.architecture.empty()) {}

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
    if (!links_) {
      return uncalibrated_->collective(op, group);
    }
    auto bytes = static_cast<double>(bytes_moved(op).count());
    if (op.kind == OpKind::kAllToAll && once_per_node_) {
      bytes *= copies_of_a_token(visited_, group.nodes) / visited_;
    }
    // What a layer waits for is whole, and so are the layers that are gathered one by one.
    const double pieces = op.layer || by_layer_ ? 1 : pieces_of(op);
    return {from_seconds(traffic_seconds(op.kind, bytes, calibrated(group), constants_, pieces)),
            PriceSource::kAnalytical};
  }
  [[nodiscard]] Price transfer(Bytes size, const GroupGeometry& ends) const override {
    return {transfer_time(size, links_ ? calibrated(ends) : ends), PriceSource::kAnalytical};
  }
  [[nodiscard]] Duration issue(const Operation& op, const DeviceType& device) const override {
    if (device.architecture.empty()) {
      return {};
    }
    const IssuedKernels kernels = kernels_of(op);
    return from_seconds((host_share(choices_) * kernels.base + kernels.added) *
                        timing_.host_micros * 1e-6);
  }
  [[nodiscard]] ExecutionRules rules(const DeviceType& device) const override {
    return device.architecture.empty() ? ExecutionRules{} : rules_;
  }

 private:
  [[nodiscard]] GroupGeometry calibrated(GroupGeometry group) const {
    group.inter_node.efficiency = constants_[StepConstant::kNicShare];
    return group;
  }

  /// Buckets of what replicas exchange.
  [[nodiscard]] double pieces_of(const Operation& op) const {
    // Parameters are gathered by the buckets that their gradients were reduced in.
    const double wider = op.kind == OpKind::kAllGather && choices_.gradient_32
                             ? 4.0 / static_cast<double>(size_of(op.dtype).count())
                             : 1;
    return bucket_pieces(wider * static_cast<double>(bytes_moved(op).count()), gradient_bucket_);
  }

  [[nodiscard]] RunChoices choices_for(const Operation& op) const {
    RunChoices choices = choices_;
    choices.fused_softmax =
        softmax_ && softmax_takes(op.shape.sequence, op.shape.batch * op.shape.heads);
    return choices;
  }

  [[nodiscard]] KernelRates rates_of(const Operation& op, const DeviceType& device) const {
    return kernel_rates({.device = &device,
                         .format = format_of(op.dtype, narrow_),
                         .attention = choices_.attention,
                         .fused_casts = choices_.fused_casts,
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
        return rows(op, rates);
      case OpClass::kOptimizer:
        return op.kind == OpKind::kSquaredSum
                   ? 0  // in the optimizer's bytes, as clearing the gradients
                   : static_cast<double>(op.shape.cols) *
                         constants_[StepConstant::kOptimizerBytes] / rates.optimizer;
      case OpClass::kCollective:
        break;
    }
    SW_CHECK(false, "an operation that computes");
  }

  /// Its weight gradient is added up, and the one of its bias sees the output's gradient once more.
  [[nodiscard]] double convolution(const Operation& op, const KernelRates& rates) const {
    const double time =
        convolution_seconds(rates, product_sizes(op), static_cast<double>(bytes_moved(op).count()));
    if (op.kind != OpKind::kConvolutionWeightGradient) {
      return time;
    }
    const double weights = static_cast<double>(op.shape.inner) * static_cast<double>(op.shape.cols);
    const double seen = static_cast<double>(op.shape.rows) * static_cast<double>(op.shape.cols);
    const double added = op.accumulate ? weights * sum_of_gradients_bytes(rates, choices_) : 0;
    return time + (added + seen * rates.element) / rates.memory + rates.kernel;
  }

  [[nodiscard]] double product(const Operation& op, const KernelRates& rates) const {
    if (is_convolution(op.kind)) {
      return convolution(op, rates);
    }
    const auto [rows, inner, cols] = product_sizes(op);
    const double time = op.kind == OpKind::kGroupedGemm
                            ? grouped(op, rates, rows, inner, cols)
                            : product_seconds(rates, rates.product, rows, inner, cols);
    const auto matrices =
        op.kind == OpKind::kGroupedGemm ? static_cast<double>(op.shape.heads) : 1.0;
    const double added =
        op.accumulate ? matrices * rows * cols * sum_of_gradients_bytes(rates, choices_) : 0;
    // The gradient's product finds its operands converted.
    const double converted = op.transpose_a ? 0 : rows * inner * rates.cast;
    return time + (added + converted) / rates.memory;
  }

  /// The products of a rank's experts, whose rows lie side by side.
  [[nodiscard]] static double grouped(
      const Operation& op, const KernelRates& rates, double rows, double inner, double cols) {
    const auto experts = static_cast<double>(op.shape.heads);
    double& routed = op.transpose_a ? inner : rows;
    routed = routed / experts + kPaddedRows;
    return product_seconds(rates, rates.product, rows, inner, cols, experts);
  }

  [[nodiscard]] double attention(const Operation& op, const KernelRates& rates) const {
    const auto sequence = static_cast<double>(op.shape.sequence);
    const auto batch = static_cast<double>(op.shape.batch);
    const auto heads = static_cast<double>(op.shape.heads);
    const auto head_dim = static_cast<double>(op.shape.head_dim);
    const bool backward = op.kind == OpKind::kAttentionBackward;
    const RunChoices choices = choices_for(op);
    const double width = (heads + static_cast<double>(op.shape.kv_heads)) * head_dim;
    // Once, whatever blocks of keys go by.
    const double arranged =
        op.accumulate
            ? 0
            : batch * sequence * width * rearrangement_bytes(rates, choices) / rates.memory +
                  kRearrangementKernels * rates.kernel;
    if (!choices.flash) {
      const ScoreShape shape{
          .matrices = batch * heads, .queries = sequence, .keys = sequence, .head_dim = head_dim};
      return arranged + (backward ? score_gradient_seconds(rates, choices, shape)
                                  : score_seconds(rates, choices, shape));
    }
    const double causal = batch * flash_seconds(rates, heads, sequence, sequence, head_dim);
    return arranged + causal * (op.causal ? 1 : 2) * (backward ? kFlashBackward : 1);
  }

  /// Row-wise and element-wise kernels.
  [[nodiscard]] double rows(const Operation& op, const KernelRates& rates) const {
    const double elements = static_cast<double>(op.shape.rows) * static_cast<double>(op.shape.cols);
    const bool gated = op.variant == OpVariant::kSwiGlu;
    const auto time = [&](double bytes_per_element, double kernels) {
      return elements * bytes_per_element / rates.memory + kernels * rates.kernel;
    };
    switch (op.kind) {
      case OpKind::kNormForward:
        return time(norm_bytes(rates, choices_), norm_kernels(choices_));
      case OpKind::kNormInputGradient:
        return time(norm_gradient_bytes(rates, choices_), 2 * norm_kernels(choices_));
      case OpKind::kActivationForward:
        return time(activation_bytes(rates, choices_, gated), 0);
      case OpKind::kActivationBackward:
        return time(activation_gradient_bytes(rates, choices_, gated), 0);
      case OpKind::kAdd:
        return op.layer ? time(residual(op, rates), 0) : copied(op, rates);
      case OpKind::kEmbeddingForward:
        return time(kEmbeddingTraffic * rates.element, kEmbeddingForwardKernels);
      case OpKind::kEmbeddingGradient:
        return time(kEmbeddingGradientTraffic * rates.element, kEmbeddingBackwardKernels) +
               static_cast<double>(op.shape.inner) * static_cast<double>(op.shape.cols) *
                   (rates.element + sum_of_gradients_bytes(rates, choices_)) / rates.memory;
      case OpKind::kLossRowMax:
      case OpKind::kLossRowSum:
        return time(kLossBytes / 2, kLossForwardKernels / 2);
      case OpKind::kLossGradient:
        return time(kLossGradientBytes, kLossBackwardKernels);
      case OpKind::kRouteForward:
      case OpKind::kRouteBackward:
        return kRoutingKernels * rates.kernel;
      case OpKind::kDispatch:
      case OpKind::kCombine:
      case OpKind::kCombineBackward:  // two of these a pass
        return elements * static_cast<double>(op.shape.inner) *
               routing_bytes(rates, constants_[StepConstant::kExpertTraffic]) / 2 / rates.memory;
      case OpKind::kFill:
        return op.weight_gradient ? copied(op, rates) : 0;
      case OpKind::kRopeForward:
      case OpKind::kRopeBackward:           // with the attention's rearrangement of its heads
      case OpKind::kColumnSum:              // in the epilogue of the product beside it
      case OpKind::kNormParameterGradient:  // with the input's gradient
      case OpKind::kPositionForward:
      case OpKind::kPositionGradient:  // with the embedding
      case OpKind::kLossFinish:        // with the sums
        return 0;
      default:
        return copied(op, rates);
    }
  }

  /// Of a residual sum.  Forward and backward look alike where nothing adds a bias: their mean.
  [[nodiscard]] double residual(const Operation& op, const KernelRates& rates) const {
    const double forward = sum_bytes(rates, choices_);
    const double backward = sum_gradient_bytes(rates, choices_);
    if (op.inputs.size() > 2) {
      return forward;
    }
    return choices_.biases ? backward : (forward + backward) / 2;
  }

  [[nodiscard]] static double copied(const Operation& op, const KernelRates& rates) {
    return static_cast<double>(bytes_moved(op).count()) / rates.memory + rates.kernel;
  }

  [[nodiscard]] IssuedKernels kernels_of(const Operation& op) const {
    switch (op.kind) {
      case OpKind::kGemm:
      case OpKind::kGroupedGemm:
        return {.base = op.transpose_a ? 3.0 : 2.0};
      case OpKind::kConvolution:
      case OpKind::kConvolutionInputGradient:
        return {.base = 2};
      case OpKind::kConvolutionWeightGradient:
        return {.base = 3};
      case OpKind::kImage:
      case OpKind::kPool:
      case OpKind::kPoolGradient:
        return {.base = 1};
      case OpKind::kRouteForward:
      case OpKind::kRouteBackward:
        return {.added = kRoutingKernels};
      case OpKind::kNormForward:
        return {.base = 1, .added = norm_kernels(choices_)};
      case OpKind::kNormInputGradient:
        return {.base = 1, .added = 2 * norm_kernels(choices_)};
      case OpKind::kActivationForward:
      case OpKind::kActivationBackward:
        return {.base = 1};
      case OpKind::kAdd:
        return {.base = op.layer ? 1.0 : 0.0};
      case OpKind::kAttentionForward:
      case OpKind::kAttentionBackward: {
        const RunChoices choices = choices_for(op);
        if (op.accumulate) {
          return {};
        }
        return {.base = 1,
                .added = kRearrangementKernels + (choices.flash ? 0 : score_kernels(choices))};
      }
      case OpKind::kEmbeddingForward:
        return {.added = kEmbeddingForwardKernels};
      case OpKind::kEmbeddingGradient:
        return {.added = kEmbeddingBackwardKernels};
      case OpKind::kLossRowMax:
      case OpKind::kLossRowSum:
        return {.added = kLossForwardKernels / 2};
      case OpKind::kLossGradient:
        return {.added = kLossBackwardKernels};
      case OpKind::kAllReduce:
      case OpKind::kAllGather:
      case OpKind::kReduceScatter:
        return {.added = 1};
      default:
        return {};
    }
  }

  StepConstants constants_;
  TimingClass timing_;
  RunChoices choices_;
  ExecutionRules rules_;
  bool softmax_;  ///< the framework has a fused one
  MatrixFormat narrow_;
  bool by_layer_;       ///< parameters are gathered by layer, whatever the framework's buckets
  bool once_per_node_;  ///< tokens go to a node once
  double visited_;      ///< experts, by a token
  Bytes gradient_bucket_;
  bool links_;  ///< those of a calibrated device, or of an unknown one
  std::unique_ptr<CostModel> uncalibrated_ = make_analytical_cost();
};

}  // namespace

ExecutionRules execution_rules(const StepConstants& constants, const TrainingSetup& setup) {
  const FrameworkProfile& framework = setup.framework;
  const RunChoices choices = choices_of(setup);
  ExecutionRules rules;
  rules.collectives_block = true;
  rules.collective_skew = from_seconds(constants[StepConstant::kCollectiveMicros] * 1e-6);
  rules.exchange_exposed = constants[StepConstant::kExpertExposed];
  rules.hidden = choices.decomposed_tensor ? constants[StepConstant::kTensorOverlap] : 0;
  rules.hidden_under_weights =
      std::max(rules.hidden,
               framework.overlap_input_gradient ? constants[StepConstant::kShardedOverlap] : 0);
  const double overlap = constants[StepConstant::kReplicaOverlap];
  rules.reduction_hidden = choices.overlap_gradients ? overlap : 0;
  rules.gather_hidden = choices.overlap_gather ? overlap : 0;
  rules.sharded_hidden = constants[StepConstant::kShardedOverlap];
  rules.overlap_slowdown = constants[StepConstant::kOverlapSlowdown];
  rules.fresh_gradients = true;
  if (framework.broadcasts_by_owner) {
    rules.owner = from_seconds(constants[StepConstant::kOwnerMillis] * 1e-3);
  }
  rules.transfer_exposed =
      framework.overlap_transfers ? constants[StepConstant::kTransferExposed] : 1;
  rules.transfers_block = !framework.overlap_transfers;
  rules.passes_wait = !framework.spares_recomputation;
  rules.scatters_transfers = framework.scatters_transfers;
  rules.once_a_step = from_seconds(constants[StepConstant::kStepMillis] * 1e-3);
  rules.straggle = constants[StepConstant::kStraggle];
  return rules;
}

std::unique_ptr<CostModel> make_calibrated_cost(StepConstants constants,
                                                const TrainingSetup& setup) {
  return std::make_unique<CalibratedCost>(std::move(constants), setup);
}

std::unique_ptr<CostModel> make_calibrated_cost(StepConstants constants,
                                                const FrameworkProfile& framework) {
  TrainingSetup setup;
  setup.framework = framework;
  return make_calibrated_cost(std::move(constants), setup);
}

}  // namespace stagewright
