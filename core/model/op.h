#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/dtype.h"
#include "core/base/units.h"

namespace stagewright {

/// What one operation of a stage program does.  This list is the contract between
/// lowering (emits), simulator (prices) and runtime (executes): for each kind the
/// operands and their order, with shapes from OpShape.  Matrices are row-major;
/// [x] marks an operand that may be left out.  "accumulates" means that the output is added to.
/// "rows" counts tokens of a micro-batch (batch * sequence) unless said otherwise.
///
/// "Counted rows" are those of tokens that were sent to experts.  Their tensors have `batch` parts
/// of `sequence` rows, one for each member of the group that divides the experts; a part begins
/// with the rows for the first of its `heads` experts, then those for the next one.  counts(batch,
/// heads) int32 says how many; what lies behind them is nothing.  `rows` is how many are expected.
///
/// To add an operation: its line here and in op.cpp, its price, its kernel.
enum class OpKind : std::uint8_t {
  /// in {A, B, [bias(cols)]}, out {C(rows, cols)}: C = op(A)(rows, inner) * op(B)(inner, cols) +
  /// bias; op transposes as flagged; accumulates if flagged.
  kGemm,
  /// in {x(rows, cols)}, out {sum(cols)}; accumulates.  The gradient of a bias.
  kColumnSum,
  /// in {x(rows, cols), gamma(cols), [beta(cols)]}, out {y(rows, cols), statistics}.
  /// statistics: (rows, 2) mean and 1/deviation for layer norm, (rows, 1) 1/rms for RMS norm.
  kNormForward,
  /// in {dy, x, gamma, statistics}, out {dx}.
  kNormInputGradient,
  /// in {dy, x, statistics}, out {dgamma, [dbeta]}; accumulates.
  kNormParameterGradient,
  /// in {qkv}, out {qkv} in place: rotates the q and k heads.  Packed qkv: (rows,
  /// (heads + 2 kv_heads) * head_dim), all q heads, then all k heads, then all v heads.
  kRopeForward,
  /// in {dqkv}, out {dqkv} in place: the inverse rotation.
  kRopeBackward,
  /// in {qkv, [kv]}, out {out(rows, heads * head_dim), lse(batch, heads, sequence), [workspace]}.
  /// With kv(rows, 2 kv_heads * head_dim), all k heads before all v heads, the queries attend to
  /// these instead: those of the part of the sequences that comes `index` parts before this rank's,
  /// round the ring of them (RankBinding::sequence_part), as far as a causal query sees them.
  /// Accumulates: what `out` and `lse` tell of other tokens is joined with these.
  kAttentionForward,
  /// in {dout, qkv, out, lse, [kv]}, out {dqkv, [workspace]}; with kv: out {dqkv, dkv,
  /// [workspace]}, of dqkv the columns of q alone; accumulates.
  kAttentionBackward,
  /// in {x, [counts]}, out {y(rows, cols)}.  x is (rows, cols), for SwiGLU (rows, 2 cols): gates,
  /// then ups.  With counts: of counted rows.
  kActivationForward,
  /// in {dy(rows, cols), x, [counts]}, out {dx like x}.
  kActivationBackward,
  /// in {a(rows, cols), b(rows, cols), [bias(cols)]}, out {y}: y = a + b + bias; y may be a or b.
  kAdd,
  /// in {x(rows, cols), [bias(cols)]}, out {y}: elements of x + bias dropped with probability
  /// `scalar`, the others divided by 1 - scalar.  What is dropped is a function of the run's seed,
  /// the step, `index` and the element's place in the global batch; Operation::slice says which
  /// rows of the micro-batch these are if not all.  Of an output's gradient, without bias, it is
  /// the backward.  y may be x.
  kDropout,
  /// in {tokens(rows) int32, table(inner, cols)}, out {y(rows, cols)}.  The table holds vocabulary
  /// entries begin .. begin + inner - 1 of Operation::slice; other tokens give zero rows.
  kEmbeddingForward,
  /// in {tokens, dy}, out {dtable}; accumulates.
  kEmbeddingGradient,
  /// in {x(rows, cols), table(sequence, cols)}, out {y}: adds row (token index mod sequence), where
  /// Operation::slice says which tokens these are if not all; y may be x.
  kPositionForward,
  /// in {dy}, out {dtable}; accumulates.
  kPositionGradient,
  /// in {logits(rows, cols)}, out {maximum(rows)}.  Columns beyond the vocabulary that
  /// Operation::slice gives this rank are padding and do not count.
  kLossRowMax,
  /// in {logits, targets(rows) int32, maximum}, out {sums(rows, 2)}: sum of exp(logit - maximum),
  /// and the target's logit if the target lies in this rank's slice, else 0.  A negative target is
  /// an ignored token.  As kSquaredError: in {y(rows, cols), targets}, out {sums(rows)}: sum of
  /// (y - one hot)^2 over this rank's slice.
  kLossRowSum,
  /// in {maximum, sums, targets}, out {loss(1)}: adds log(sum) + maximum - target logit over the
  /// rows that are not ignored, times `scalar`; accumulates.  As kSquaredError: in
  /// {sums, targets}; adds the sums.
  kLossFinish,
  /// in {logits, targets, maximum, sums}, out {dlogits}: (softmax - one hot) * scalar; may
  /// overwrite the logits.  As kSquaredError: in {y, targets}; (y - one hot) * scalar.
  kLossGradient,
  /// out {x}: sets every element to `scalar`.
  kFill,
  /// in {x}, out {y}: copies, converting the element type.
  kCopy,
  /// in {x(rows, inner)}, out {y(rows, cols)}: columns `index` .. index + cols - 1 of x.
  kCopyColumns,
  /// in {x(rows, cols)}, out {y(rows, inner)}: adds x to the same columns of y; accumulates.
  kAddColumns,
  /// in {x}, out {totals}: totals[index] += scalar * sum of squares of x.
  kSquaredSum,
  /// in {gradient, [totals]}, out {parameter, [momentum], [fp32 master]}.  totals[0] is the squared
  /// global gradient norm, from which the clip factor follows.
  kSgdStep,
  /// in {gradient, totals}, out {parameter, first moment, second moment, [fp32 master]}; Adam or
  /// AdamW, as the schedule's optimizer says.
  kAdamWStep,
  /// in {scores(rows, cols)}, out {gates(rows, inner), choices(rows, inner) int32, places(rows,
  /// inner) int32, counts(batch, heads) int32}: of cols = batch * heads experts each row chooses
  /// the `inner` with the highest scores, and their softmax is its gates.  places: which of the
  /// counted rows the row becomes for each choice; counts: how many of them go to each expert.
  kRouteForward,
  /// in {dgates, gates, choices, [scores]}, out {dscores(rows, cols)}.  With scores, of sequences
  /// of `sequence` rows, adds `scalar` times the gradient of the balance term: the sum over tokens
  /// of cols * sum over experts of (share of the sequence's choices) * (softmax of the scores).
  kRouteBackward,
  /// in {x(rows, cols), places(rows, inner)}, out {y}: counted rows, `inner` copies of each row.
  kDispatch,
  /// in {y, places(rows, inner), [gates]}, out {x(rows, cols)}: the sum of a row's copies, times
  /// the gates.
  kCombine,
  /// in {dx(rows, cols), y, places(rows, inner), gates}, out {dy, dgates(rows, inner)}.
  kCombineBackward,
  /// in {A, B, counts}, out {C}: like kGemm for each expert, with its counted rows of A and C and
  /// its matrix of B, one below the other.  With transpose_a A and B are counted rows (`inner` is
  /// how many are expected) and C the experts' matrices (rows, cols).
  kGroupedGemm,
  // Images: tensors of (batch, height * width * channels), all channels of a pixel together.
  /// in {pixels(rows, cols) int32, 0 .. 255}, out {x(rows, cols)}: x = pixel / 127.5 - 1.
  kImage,
  /// in {x, W(cols, inner), [bias(cols)]}, out {y(rows, cols)}: of `batch` images as `window` says,
  /// rows = batch * pixels of an output, cols its channels, inner = kernel^2 * channels: the
  /// weights of a window's row of pixels stand before those of the next row.  Beyond its border an
  /// image is 0.
  kConvolution,
  /// in {dy(rows, cols), W}, out {dx}: sizes as those of the convolution.
  kConvolutionInputGradient,
  /// in {dy(rows, cols), x}, out {dW(cols, inner), [dbias(cols)]}; accumulates.
  kConvolutionWeightGradient,
  /// in {x}, out {y(rows, cols)}: for each channel the maximum of a window (by variant kMaximum),
  /// of what lies inside the image, or the sum over it divided by kernel^2 (kAverage).
  kPool,
  /// in {dy(rows, cols), [x]}, out {dx}; x for the maximum: the first of equal ones gets all.
  kPoolGradient,
  // Collectives over `group`: asynchronous on their stream.  cols counts elements of x.
  /// in {x}, out {x} in place: sum (or maximum by variant) over the members.
  kAllReduce,
  /// in {x(cols / members)}, out {y(cols)}.
  kAllGather,
  /// in {x(cols)}, out {y(cols / members)}: sums.
  kReduceScatter,
  /// in {x}, out {x}: from member `index`.
  kBroadcast,
  /// in {x(cols)}, out {y(cols)}: x of the member before this one; of the last one, for the first.
  kRingShift,
  /// in {x(cols), [counts]}, out {y(cols)}: equal parts to every member.  With counts(members,
  /// heads), of counted rows `inner` wide: only those of each part that are; cols is what is
  /// expected.
  kAllToAll,
};
inline constexpr int kOpKindCount = static_cast<int>(OpKind::kAllToAll) + 1;

/// Flavour of an operation where its kind has several.
enum class OpVariant : std::uint8_t {
  kNone,
  kLayerNorm,
  kRmsNorm,
  kGelu,  ///< tanh form
  kSwiGlu,
  kRelu,
  kSum,           ///< all-reduce
  kMaximum,       ///< all-reduce
  kSquaredError,  ///< losses; else cross-entropy
  kAverage,       ///< pools
};

/// How an operation uses the machine: decides which price applies.
enum class OpClass : std::uint8_t {
  kMatrix,      ///< bound by the matrix units
  kAttention,   ///< fused or blockwise attention
  kMemory,      ///< row-wise and element-wise, bound by memory bandwidth
  kOptimizer,   ///< bound by memory bandwidth, over parameters
  kCollective,  ///< bound by links
};

/// The images that a convolution or pool reads, and the square windows that it lays over them.
struct OpWindow {
  std::int32_t height = 1;  ///< of an image, in pixels
  std::int32_t width = 1;
  std::int32_t channels = 1;
  std::int32_t kernel = 1;   ///< side of a window
  std::int32_t stride = 1;   ///< from one window to the next
  std::int32_t padding = 0;  ///< on each side of the image
  friend bool operator==(const OpWindow&, const OpWindow&) = default;

  [[nodiscard]] std::int64_t out_height() const { return places(height); }
  [[nodiscard]] std::int64_t out_width() const { return places(width); }
  /// Pixels of an image that comes out.
  [[nodiscard]] std::int64_t out_pixels() const { return out_height() * out_width(); }
  /// Elements of an image that goes in.
  [[nodiscard]] std::int64_t elements() const { return std::int64_t{height} * width * channels; }
  /// Whether a window fits: sizes are positive, padding less than the kernel.
  [[nodiscard]] bool is_possible() const {
    return height > 0 && width > 0 && channels > 0 && kernel > 0 && stride > 0 && padding >= 0 &&
           padding < kernel && std::int64_t{height} + 2 * std::int64_t{padding} >= kernel &&
           std::int64_t{width} + 2 * std::int64_t{padding} >= kernel;
  }

 private:
  [[nodiscard]] std::int64_t places(std::int64_t size) const {
    return (size + 2 * std::int64_t{padding} - kernel) / stride + 1;
  }
};

/// Sizes of an operation; a kind uses those that its description names, the others stay 1.
struct OpShape {
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  std::int64_t inner = 1;
  std::int64_t batch = 1;     ///< sequences of the micro-batch
  std::int64_t sequence = 1;  ///< tokens of a sequence
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 1;
  OpWindow window;
  friend bool operator==(const OpShape&, const OpShape&) = default;
};

/// Text of the kind in files and reports: "gemm", "norm-forward", "all-reduce".
[[nodiscard]] std::string_view name_of(OpKind kind);
[[nodiscard]] std::optional<OpKind> op_kind_named(std::string_view name);
[[nodiscard]] std::string_view name_of(OpVariant variant);
[[nodiscard]] std::optional<OpVariant> op_variant_named(std::string_view name);
[[nodiscard]] OpClass class_of(OpKind kind);
/// "matrix", "attention", "memory", "optimizer", "collective".
[[nodiscard]] std::string_view name_of(OpClass op_class);
[[nodiscard]] std::optional<OpClass> op_class_named(std::string_view name);

/// Floating-point operations that the mathematics needs (a multiply-add counts two;
/// causal attention counts half of the score matrix; a collective's sums count none).
[[nodiscard]] Flops flops_of(OpKind kind, OpVariant variant, const OpShape& shape, bool causal);

/// Elements read plus written by a kernel that touches each operand once, for the
/// memory-bandwidth bound.  Collectives: elements of the message.
[[nodiscard]] double elements_moved(OpKind kind, OpVariant variant, const OpShape& shape);

}  // namespace stagewright
