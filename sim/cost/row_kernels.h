#pragma once

#include "sim/cost/kernel_time.h"
#include "sim/cost/run_choices.h"

namespace stagewright {

// What the kernels between a layer's products move and how many they are, counted in the code of
// the frameworks.  The closed form of a layer (sim/step) adds these up; the prices of a list's
// operations (calibrated_cost.h) are the same figures one by one.

/// Kernels that the host issues for a layer forward and backward: products with biases and
/// element-wise kernels, without those that the functions below add.
inline constexpr double kForwardKernels = 14;
inline constexpr double kBackwardKernels = 26;
/// Of these, a projection's and the residual sum's behind it.
inline constexpr double kProjectionKernels = 3;
/// Kernels that are left of those with torch.compile, as a share.
[[nodiscard]] double host_share(const RunChoices& choices);

/// Bytes per element of a norm's input, forward and backward; kernels beyond the layer's, forward
/// (twice as many backward).
[[nodiscard]] double norm_bytes(const KernelRates& rates, const RunChoices& choices);
[[nodiscard]] double norm_gradient_bytes(const KernelRates& rates, const RunChoices& choices);
[[nodiscard]] double norm_kernels(const RunChoices& choices);

/// Bytes per element of a residual sum with its dropout and bias.
[[nodiscard]] double sum_bytes(const KernelRates& rates, const RunChoices& choices);
[[nodiscard]] double sum_gradient_bytes(const KernelRates& rates, const RunChoices& choices);

/// Bytes per element of an activation's output (`gated`: SwiGLU).
[[nodiscard]] double activation_bytes(const KernelRates& rates,
                                      const RunChoices& choices,
                                      bool gated);
[[nodiscard]] double activation_gradient_bytes(const KernelRates& rates,
                                               const RunChoices& choices,
                                               bool gated);

/// Bytes per element of queries and keys for rearranging the heads and rotating them: eager code
/// does that in 32 bits, one kernel a step.
[[nodiscard]] double rearrangement_bytes(const KernelRates& rates, const RunChoices& choices);
inline constexpr double kRearrangementKernels = 2;

/// Attention that is not fused: `matrices` batched products with the scores in memory.
struct ScoreShape {
  double matrices = 1;  ///< sequences times heads
  double queries = 1;
  double keys = 1;
  double head_dim = 1;
};
[[nodiscard]] double score_seconds(const KernelRates& rates,
                                   const RunChoices& choices,
                                   const ScoreShape& shape);
[[nodiscard]] double score_gradient_seconds(const KernelRates& rates,
                                            const RunChoices& choices,
                                            const ScoreShape& shape);
/// Scale, mask, softmax, dropout and the two products in place of one flash kernel; more where each
/// step of the softmax is a kernel.
[[nodiscard]] double score_kernels(const RunChoices& choices);

/// Of experts, a pass: router, top-k, permutation, counts, and what comes back.
inline constexpr double kRoutingKernels = 30;
/// Bytes per element of the routed tokens, one copy each way, times the calibrated traffic.
[[nodiscard]] double routing_bytes(const KernelRates& rates, double traffic);
/// Rows by which a group of an expert's rows is padded: half a tile.
inline constexpr double kPaddedRows = 64;

/// Bytes per weight for adding a micro-batch's gradient to the sum.
[[nodiscard]] double sum_of_gradients_bytes(const KernelRates& rates, const RunChoices& choices);

/// Times the activation's elements and their bytes: lookup with positions and dropout.  The table's
/// gradient is cleared and added to the sum as a whole on top.
inline constexpr double kEmbeddingTraffic = 3;
inline constexpr double kEmbeddingGradientTraffic = 6;
inline constexpr double kEmbeddingForwardKernels = 6;
inline constexpr double kEmbeddingBackwardKernels = 4;

/// Bytes per logit of a loss in 32 bits: cast, maximum, exponentials, sum; gradient, cast.
inline constexpr double kLossBytes = 21.6;
inline constexpr double kLossGradientBytes = 14.4;
/// With the final norm's parts where it is not fused.
inline constexpr double kLossForwardKernels = 12;
inline constexpr double kLossBackwardKernels = 8;
/// Output projection and final norm, beside the loss.
inline constexpr double kHeadForwardKernels = 3;
inline constexpr double kHeadBackwardKernels = 6;

}  // namespace stagewright
