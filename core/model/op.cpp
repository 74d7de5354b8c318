#include "core/model/op.h"

#include "core/base/check.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, kOpKindCount> kOpNames = {
    "gemm",
    "column-sum",
    "norm-forward",
    "norm-input-gradient",
    "norm-parameter-gradient",
    "rope-forward",
    "rope-backward",
    "attention-forward",
    "attention-backward",
    "activation-forward",
    "activation-backward",
    "add",
    "dropout",
    "embedding-forward",
    "embedding-gradient",
    "position-forward",
    "position-gradient",
    "loss-row-max",
    "loss-row-sum",
    "loss-finish",
    "loss-gradient",
    "fill",
    "copy",
    "copy-columns",
    "add-columns",
    "squared-sum",
    "sgd-step",
    "adamw-step",
    "route-forward",
    "route-backward",
    "dispatch",
    "combine",
    "combine-backward",
    "grouped-gemm",
    "image",
    "convolution",
    "convolution-input-gradient",
    "convolution-weight-gradient",
    "pool",
    "pool-gradient",
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "broadcast",
    "ring-shift",
    "all-to-all",
};

constexpr std::array<std::string_view, static_cast<std::size_t>(OpVariant::kAverage) + 1>
    kVariantNames = {"none",
                     "layer-norm",
                     "rms-norm",
                     "gelu",
                     "swiglu",
                     "relu",
                     "sum",
                     "maximum",
                     "squared-error",
                     "average"};

constexpr std::array<std::string_view, static_cast<std::size_t>(OpClass::kCollective) + 1>
    kClassNames = {"matrix", "attention", "memory", "optimizer", "collective"};

template <class Enum, std::size_t kCount>
std::optional<Enum> find_name(const std::array<std::string_view, kCount>& names,
                              std::string_view name) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

/// The sizes of an operation as doubles, with the products that several kinds need.
struct Sizes {
  double rows;
  double cols;
  double inner;
  double elements;  ///< rows * cols
  double sequence;
  double q_width;    ///< all query heads of a token
  double qkv_width;  ///< packed q, k and v of a token
  double tokens;     ///< batch * sequence
  double scores;     ///< of all heads, the whole square

  explicit Sizes(const OpShape& shape)
      : rows(static_cast<double>(shape.rows)),
        cols(static_cast<double>(shape.cols)),
        inner(static_cast<double>(shape.inner)),
        elements(rows * cols),
        sequence(static_cast<double>(shape.sequence)),
        q_width(static_cast<double>(shape.heads) * static_cast<double>(shape.head_dim)),
        qkv_width(static_cast<double>(shape.heads + 2 * shape.kv_heads) *
                  static_cast<double>(shape.head_dim)),
        tokens(static_cast<double>(shape.batch) * sequence),
        scores(static_cast<double>(shape.heads) * tokens * sequence) {}
};

/// Elements of statistics per row: mean and deviation, or only the root mean square.
double statistics_of(OpVariant variant) {
  return variant == OpVariant::kRmsNorm ? 1 : 2;
}

/// Columns of the activation's input per column of its output.
double gate_factor(OpVariant variant) {
  return variant == OpVariant::kSwiGlu ? 2 : 1;
}

}  // namespace

std::string_view name_of(OpKind kind) {
  return kOpNames[static_cast<std::size_t>(kind)];
}

std::optional<OpKind> op_kind_named(std::string_view name) {
  return find_name<OpKind>(kOpNames, name);
}

std::string_view name_of(OpVariant variant) {
  return kVariantNames[static_cast<std::size_t>(variant)];
}

std::optional<OpVariant> op_variant_named(std::string_view name) {
  return find_name<OpVariant>(kVariantNames, name);
}

std::string_view name_of(OpClass op_class) {
  return kClassNames[static_cast<std::size_t>(op_class)];
}

std::optional<OpClass> op_class_named(std::string_view name) {
  return find_name<OpClass>(kClassNames, name);
}

OpClass class_of(OpKind kind) {
  switch (kind) {
    case OpKind::kGemm:
    case OpKind::kGroupedGemm:
    case OpKind::kConvolution:
    case OpKind::kConvolutionInputGradient:
    case OpKind::kConvolutionWeightGradient:
      return OpClass::kMatrix;
    case OpKind::kAttentionForward:
    case OpKind::kAttentionBackward:
      return OpClass::kAttention;
    case OpKind::kColumnSum:
    case OpKind::kNormForward:
    case OpKind::kNormInputGradient:
    case OpKind::kNormParameterGradient:
    case OpKind::kRopeForward:
    case OpKind::kRopeBackward:
    case OpKind::kActivationForward:
    case OpKind::kActivationBackward:
    case OpKind::kAdd:
    case OpKind::kDropout:
    case OpKind::kEmbeddingForward:
    case OpKind::kEmbeddingGradient:
    case OpKind::kPositionForward:
    case OpKind::kPositionGradient:
    case OpKind::kLossRowMax:
    case OpKind::kLossRowSum:
    case OpKind::kLossFinish:
    case OpKind::kLossGradient:
    case OpKind::kFill:
    case OpKind::kCopy:
    case OpKind::kCopyColumns:
    case OpKind::kAddColumns:
    case OpKind::kRouteForward:
    case OpKind::kRouteBackward:
    case OpKind::kDispatch:
    case OpKind::kCombine:
    case OpKind::kCombineBackward:
    case OpKind::kImage:
    case OpKind::kPool:
    case OpKind::kPoolGradient:
      return OpClass::kMemory;
    case OpKind::kSquaredSum:
    case OpKind::kSgdStep:
    case OpKind::kAdamWStep:
      return OpClass::kOptimizer;
    case OpKind::kAllReduce:
    case OpKind::kAllGather:
    case OpKind::kReduceScatter:
    case OpKind::kBroadcast:
    case OpKind::kRingShift:
    case OpKind::kAllToAll:
      return OpClass::kCollective;
  }
  SW_CHECK(false, "a listed operation kind");
  return OpClass::kMemory;
}

namespace {

/// Of an element; a transcendental counts one.
double activation_operations(OpVariant variant, bool backward) {
  if (variant == OpVariant::kRelu) {
    return 1;
  }
  if (variant == OpVariant::kSwiGlu) {
    return backward ? 10 : 5;
  }
  return backward ? 15 : 9;
}

/// Of two products (scores and values), each scores * head_dim multiply-adds.
double attention_flops(const Sizes& n, std::int64_t head_dim, bool causal) {
  return 4 * n.scores * static_cast<double>(head_dim) * (causal ? 0.5 : 1.0);
}

}  // namespace

Flops flops_of(OpKind kind, OpVariant variant, const OpShape& shape, bool causal) {
  const Sizes n(shape);
  const bool rms = variant == OpVariant::kRmsNorm;
  const double attention = attention_flops(n, shape.head_dim, causal);
  switch (kind) {
    case OpKind::kGemm:
    case OpKind::kGroupedGemm:
    case OpKind::kConvolution:
    case OpKind::kConvolutionInputGradient:
    case OpKind::kConvolutionWeightGradient:
    case OpKind::kRouteForward:  // a look at each score for each choice
    case OpKind::kCombine:
      return Flops(2 * n.elements * n.inner);
    case OpKind::kCombineBackward:
      return Flops(3 * n.elements * n.inner);
    case OpKind::kRouteBackward:
      return Flops(6 * n.elements);
    case OpKind::kAttentionForward:
      return Flops(attention);
    case OpKind::kAttentionBackward:
      return Flops(2 * attention);  // gradients of both factors of both products
    case OpKind::kColumnSum:
    case OpKind::kEmbeddingGradient:
    case OpKind::kPositionForward:
    case OpKind::kPositionGradient:
    case OpKind::kAdd:
    case OpKind::kAddColumns:
    case OpKind::kLossRowMax:
      return Flops(n.elements);
    case OpKind::kDropout:  // ten rounds of a counter-based generator for four elements
      return Flops(22 * n.elements);
    // Row-wise kinds: operations per element written out; a transcendental counts one.
    case OpKind::kNormForward:
      return Flops((rms ? 4 : 8) * n.elements);
    case OpKind::kNormInputGradient:
      return Flops((rms ? 8 : 11) * n.elements);
    case OpKind::kNormParameterGradient:
      return Flops((rms ? 3 : 5) * n.elements);
    case OpKind::kRopeForward:
    case OpKind::kRopeBackward:  // a 2 x 2 rotation: 6 per pair of q and k elements
      return Flops(3 * n.rows * static_cast<double>(shape.heads + shape.kv_heads) *
                   static_cast<double>(shape.head_dim));
    case OpKind::kActivationForward:
      return Flops(activation_operations(variant, false) * n.elements);
    case OpKind::kActivationBackward:
      return Flops(activation_operations(variant, true) * n.elements);
    case OpKind::kLossRowSum:
    case OpKind::kLossGradient:
      return Flops(3 * n.elements);
    case OpKind::kLossFinish:
      return Flops(4 * n.rows);
    case OpKind::kSquaredSum:
    case OpKind::kImage:
      return Flops(2 * n.elements);
    case OpKind::kPool:
    case OpKind::kPoolGradient: {  // a look at each element of each window
      const auto kernel = static_cast<double>(shape.window.kernel);
      return Flops(kernel * kernel * n.elements);
    }
    case OpKind::kSgdStep:
      return Flops(5 * n.elements);
    case OpKind::kAdamWStep:
      return Flops(15 * n.elements);
    case OpKind::kEmbeddingForward:
    case OpKind::kFill:
    case OpKind::kCopy:
    case OpKind::kCopyColumns:
    case OpKind::kDispatch:
    case OpKind::kAllReduce:
    case OpKind::kAllGather:
    case OpKind::kReduceScatter:
    case OpKind::kBroadcast:
    case OpKind::kRingShift:
    case OpKind::kAllToAll:
      return Flops(0);
  }
  SW_CHECK(false, "a listed operation kind");
  return Flops(0);
}

namespace {

/// elements_moved() of what brings rows to experts and back.
double moved_for_experts(OpKind kind, const Sizes& n) {
  switch (kind) {
    case OpKind::kRouteForward:  // gates, choices, places
      return n.elements + 3 * n.rows * n.inner;
    case OpKind::kRouteBackward:
      return 2 * n.elements + 3 * n.rows * n.inner;
    case OpKind::kCombineBackward:
      return n.elements * (1 + 2 * n.inner) + 3 * n.rows * n.inner;
    default:  // there or back
      return n.elements * (1 + n.inner) + n.rows * n.inner;
  }
}

/// elements_moved() of a part of the loss.
double moved_for_loss(OpKind kind, const Sizes& n) {
  switch (kind) {
    case OpKind::kLossRowMax:
      return n.elements + n.rows;
    case OpKind::kLossRowSum:  // targets, maximum, two sums
      return n.elements + 4 * n.rows;
    case OpKind::kLossFinish:
      return 4 * n.rows + 1;
    default:  // its gradient
      return 2 * n.elements + 4 * n.rows;
  }
}

}  // namespace

double elements_moved(OpKind kind, OpVariant variant, const OpShape& shape) {
  const Sizes n(shape);
  const double images =
      static_cast<double>(shape.batch) * static_cast<double>(shape.window.elements());
  const double statistics = statistics_of(variant) * n.rows;
  // Gain, and for layer norm a shift.
  const double norm_weights = (variant == OpVariant::kRmsNorm ? 1 : 2) * n.cols;
  switch (kind) {
    case OpKind::kGemm:
    case OpKind::kGroupedGemm:  // and the matrices of further experts, which few rows see each
      return n.rows * n.inner + n.inner * n.cols + n.elements;
    case OpKind::kRouteForward:
    case OpKind::kRouteBackward:
    case OpKind::kDispatch:
    case OpKind::kCombine:
    case OpKind::kCombineBackward:
      return moved_for_experts(kind, n);
    case OpKind::kColumnSum:
      return n.elements + n.cols;
    case OpKind::kNormForward:
    case OpKind::kNormParameterGradient:
      return 2 * n.elements + norm_weights + statistics;
    case OpKind::kNormInputGradient:
      return 3 * n.elements + n.cols + statistics;
    case OpKind::kRopeForward:
    case OpKind::kRopeBackward:
      return 2 * n.rows * static_cast<double>(shape.heads + shape.kv_heads) *
             static_cast<double>(shape.head_dim);
    case OpKind::kAttentionForward:  // and one log-sum-exp per head and token
      return n.tokens * (n.qkv_width + n.q_width + static_cast<double>(shape.heads));
    case OpKind::kAttentionBackward:
      return n.tokens * (2 * n.qkv_width + 2 * n.q_width + static_cast<double>(shape.heads));
    case OpKind::kActivationForward:
      return (gate_factor(variant) + 1) * n.elements;
    case OpKind::kActivationBackward:
      return (2 * gate_factor(variant) + 1) * n.elements;
    case OpKind::kAdd:
    case OpKind::kAddColumns:
      return 3 * n.elements;
    case OpKind::kEmbeddingForward:
      return 2 * n.elements + n.rows;
    case OpKind::kEmbeddingGradient:
      return 3 * n.elements + n.rows;
    case OpKind::kPositionForward:
      return 2 * n.elements + n.sequence * n.cols;
    case OpKind::kPositionGradient:
      return n.elements + 2 * n.sequence * n.cols;
    case OpKind::kLossRowMax:
    case OpKind::kLossRowSum:
    case OpKind::kLossFinish:
    case OpKind::kLossGradient:
      return moved_for_loss(kind, n);
    case OpKind::kCopy:
    case OpKind::kCopyColumns:
    case OpKind::kDropout:
    case OpKind::kImage:
      return 2 * n.elements;
    case OpKind::kConvolution:
    case OpKind::kConvolutionInputGradient:
    case OpKind::kConvolutionWeightGradient:
      return images + n.inner * n.cols + n.elements;
    case OpKind::kPool:
      return images + n.elements;
    case OpKind::kPoolGradient:  // images again, to find the largest
      return (variant == OpVariant::kMaximum ? 2 : 1) * images + n.elements;
    case OpKind::kSgdStep:  // gradient, parameter in and out
      return 3 * n.elements;
    case OpKind::kAdamWStep:  // gradient; parameter and both moments in and out
      return 7 * n.elements;
    case OpKind::kFill:
    case OpKind::kSquaredSum:
    case OpKind::kAllReduce:
    case OpKind::kAllGather:
    case OpKind::kReduceScatter:
    case OpKind::kBroadcast:
    case OpKind::kRingShift:
    case OpKind::kAllToAll:
      return n.elements;
  }
  SW_CHECK(false, "a listed operation kind");
  return 0;
}

}  // namespace stagewright
