#pragma once

#include "sim/cost/kernel_time.h"
#include "sim/cost/run_choices.h"

namespace stagewright {

/// Device time of one pass of a micro-batch through a part of the model, by kind, and the kernels
/// that the host must issue for it.  Seconds.
struct PassTime {
  double products = 0;
  double attention = 0;
  double elementwise = 0;
  double experts = 0;
  double kernels = 0;  ///< how many
  [[nodiscard]] double device() const { return products + attention + elementwise + experts; }
  PassTime& operator+=(const PassTime& other);
  [[nodiscard]] PassTime scaled(double factor) const;
};

/// A transformer layer, or what stands at an end of the model.
struct LayerTime {
  PassTime forward;
  PassTime backward;   ///< without what is computed again
  PassTime again;      ///< forward work that the backward repeats
  double weights = 0;  ///< elements of the products' weights on this rank
};

/// A layer with its MLP; where the run has an encoder, with attention to its output.
[[nodiscard]] LayerTime dense_layer(const TrainingSetup& setup,
                                    const RunChoices& choices,
                                    const KernelRates& rates);
/// A layer with experts in its place.  `traffic` scales the routing's copies.
[[nodiscard]] LayerTime expert_layer(const TrainingSetup& setup,
                                     const RunChoices& choices,
                                     const KernelRates& rates,
                                     double traffic);
/// Adds to the backward what accumulating the weights' gradients over micro-batches moves.
void add_accumulation(LayerTime& layer, const RunChoices& choices, const KernelRates& rates);
/// Embedding; output layer with its norm and the loss, the vocabulary divided over `share` ranks.
[[nodiscard]] LayerTime embedding_time(const TrainingSetup& setup,
                                       const RunChoices& choices,
                                       const KernelRates& rates);
[[nodiscard]] LayerTime head_time(const TrainingSetup& setup,
                                  const RunChoices& choices,
                                  const KernelRates& rates,
                                  double share);

}  // namespace stagewright
