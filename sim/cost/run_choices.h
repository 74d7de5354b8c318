#pragma once

#include "core/training/training_setup.h"

namespace stagewright {

/// How a program runs its operations: what the run says and, where it leaves that open, what the
/// framework does.
struct RunChoices {
  // Kernels.
  bool flash = true;
  AttentionKernel attention = AttentionKernel::kFlash2;
  bool fused_softmax = true;  ///< where attention is not flash attention
  bool compiled = false;
  bool fused_norm = true;
  bool fused_sum = true;  ///< bias, dropout and residual in one kernel
  bool fused_activation = true;
  bool fused_casts = false;
  bool dropout = false;
  bool biases = false;  ///< of the linear layers
  // Gradients.
  bool gradient_32 = true;
  bool fused_accumulation = false;
  /// Nothing is added up: gradients live for one backward, or there is one micro-batch.
  bool fresh_gradients = false;
  // Communication.
  bool sequence_parallel = false;
  /// Tensor-parallel collectives and products are cut into pieces that take turns, which needs
  /// sequence parallelism: a sum over ranks has no pieces that a product could start with
  /// (Transformer Engine's user buffers, PyTorch's asynchronous tensor parallelism).
  bool decomposed_tensor = false;
  bool overlap_gradients = true;
  bool overlap_gather = true;
  Recompute recompute = Recompute::kNone;
};
[[nodiscard]] RunChoices choices_of(const TrainingSetup& setup);

/// Whether Megatron's fused softmax takes so many keys and score matrices (megatron/fused_kernels,
/// is_kernel_available: up to 2048 keys, later 4096 and 16384; a multiple of four matrices).
[[nodiscard]] bool softmax_takes(std::int64_t keys, std::int64_t matrices);

}  // namespace stagewright
