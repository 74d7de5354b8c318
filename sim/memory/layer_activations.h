#pragma once

#include "core/training/framework.h"
#include "core/training/training_run.h"

namespace stagewright {

/// Bytes that one transformer layer keeps between its forward and its backward on one rank, per
/// token of a micro-batch on this rank (docs/memory.md derives each; Korthikanti et al. 2022,
/// section 4, is the case of GPT without flash attention).
struct LayerActivations {
  double norms = 0;      ///< inputs and outputs of both norms
  double dropout = 0;    ///< masks after attention and MLP
  double attention = 0;  ///< query, key, value, context; statistics of flash attention
  double scores = 0;     ///< softmax output, its dropout mask and result; none with flash attention
  double mlp = 0;        ///< input and output of the activation; shared experts
  double experts = 0;    ///< routed copies of tokens and what experts keep of them
  friend bool operator==(const LayerActivations&, const LayerActivations&) = default;

  [[nodiscard]] double total() const {
    return norms + dropout + attention + scores + mlp + experts;
  }
};

/// Whether the run divides norms and dropout along the sequence.
[[nodiscard]] bool sequence_is_divided(const TrainingRun& run, const FrameworkProfile& framework);

/// Output of one norm per token, as kept for the product behind it.
[[nodiscard]] double norm_output_bytes(const TrainingRun& run, const FrameworkProfile& framework);

/// Without any recomputation; averaged over dense and sparse layers.
[[nodiscard]] LayerActivations layer_activations(const TrainingRun& run,
                                                 const FrameworkProfile& framework);

/// What the run's recomputation leaves of them per token, averaged over layers.
[[nodiscard]] double kept_activations(const TrainingRun& run, const FrameworkProfile& framework);

/// Gradients that one layer's backward holds at once, per token: of its output, and of the MLP's
/// activation, input and output, while everything that the forward kept is still there.
[[nodiscard]] double activation_gradients(const TrainingRun& run,
                                          const FrameworkProfile& framework);

/// What is there again, per token, while one layer is recomputed; 0 without recomputation.
[[nodiscard]] double recomputed_activations(const TrainingRun& run,
                                            const FrameworkProfile& framework);

}  // namespace stagewright
