#pragma once

#include <cstdint>

#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"

namespace stagewright {

/// GPT-2's shape in small: layer norm, GELU, biases, learned positions, tied embeddings.  Hidden 16
/// in 4 heads, feed-forward 64, vocabulary 30 (padded for tp 4).
[[nodiscard]] ModelGraph tiny_gpt(std::int64_t blocks);
/// Llama's shape in small: RMS norm, SwiGLU, rotary positions, no biases, 2 kv heads.
[[nodiscard]] ModelGraph tiny_llama(std::int64_t blocks);

/// One node of `devices` that compute attention blockwise.
[[nodiscard]] Cluster cpu_cluster(std::int32_t devices);
/// Nodes of 8 devices with fused attention.
[[nodiscard]] Cluster gpu_cluster(std::int32_t nodes);

/// Degrees of a plan.
struct Degrees {
  std::int32_t dp = 1;
  std::int32_t tp = 1;
  std::int32_t pp = 1;
};

/// fp32, even stages, 8 tokens, one sequence per micro-batch, AdamW.
[[nodiscard]] Plan plan_of(const ModelGraph& model, Degrees degrees, std::int32_t micro_batches);

}  // namespace stagewright
