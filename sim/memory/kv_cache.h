#pragma once

#include <cstdint>
#include <optional>

#include "core/base/units.h"
#include "core/cluster/device.h"
#include "core/training/training_run.h"
#include "sim/memory/memory_constants.h"

namespace stagewright {

/// A model that answers requests: what its memory depends on.
struct ServingRun {
  TrainingRun model;  ///< shape, experts and latent attention; tp and pp; the rest is ignored
  std::int64_t context = 0;    ///< tokens that a sequence may reach, prompt and answer
  std::int64_t sequences = 1;  ///< at once
  double weight_bytes = 2;     ///< per parameter
  double cache_bytes = 2;      ///< per cached element
  friend bool operator==(const ServingRun&, const ServingRun&) = default;
};

/// Bytes that one cached token takes on one device:
///
///   2 layers / pp x max(kv_heads / tp, 1) x head_dim x bytes
///
/// (key and value; Pope et al. 2022, section 3.3).  A head below tp is held by several ranks, so
/// that the cache stops shrinking at tp = kv_heads.  Latent attention keeps the compressed form and
/// the shared rotary part, on every tensor rank.
[[nodiscard]] double cache_bytes_per_token(const ServingRun& run);

struct ServingMemory {
  Bytes weights{};
  Bytes cache{};
  Bytes activations{};  ///< logits and the widest layer of one prompt
  Bytes context{};      ///< driver, kernels, communicators
  friend bool operator==(const ServingMemory&, const ServingMemory&) = default;

  [[nodiscard]] Bytes total() const { return weights + cache + activations + context; }
};

/// One device.  Weights divided by tp and pp, as in training.
[[nodiscard]] ServingMemory serving_memory(const ServingRun& run,
                                           const DeviceType& device,
                                           const MemoryConstants& constants);

/// Sequences of full length that fit at once; 0 where not even one does, nothing where not even the
/// weights do.
[[nodiscard]] std::optional<std::int64_t> most_sequences(const ServingRun& run,
                                                         const DeviceType& device,
                                                         const MemoryConstants& constants);

}  // namespace stagewright
