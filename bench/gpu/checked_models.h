#pragma once

#include <cstdint>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/model/model_graph.h"
#include "core/schedule/schedule.h"

namespace stagewright::gpu_check {

/// Sizes of a model of equal blocks; the rest follows from its style.
struct ModelSizes {
  std::int32_t layers = 0;
  std::int32_t hidden = 0;
  std::int32_t heads = 0;
  std::int32_t kv_heads = 0;
  std::int32_t feed_forward = 0;
  std::int32_t vocabulary = 0;
  std::int32_t sequence = 0;
};

/// Layer norm, GELU, learned positions, biases, tied head.
[[nodiscard]] Result<ModelGraph> gpt_model(const ModelSizes& sizes);
/// RMS norm, SwiGLU, rotary positions, grouped heads, own head.
[[nodiscard]] Result<ModelGraph> llama_model(const ModelSizes& sizes);

/// How a plan of the check divides its model.
struct Division {
  std::int32_t dp = 1;
  std::int32_t tp = 1;
  std::int32_t pp = 1;
  std::int32_t virtual_stages = 1;
  const char* schedule = "1f1b";
  std::int32_t zero = 0;
  bool sequence_parallel = false;
  DType precision = DType::kFloat32;
  std::int32_t micro_batch_size = 1;
  std::int32_t micro_batches = 1;
};

/// For the CPU, whose lists also run where attention has no workspace of its own.
[[nodiscard]] Result<Schedule> lower_for_check(const ModelGraph& model, const Division& division);

}  // namespace stagewright::gpu_check
