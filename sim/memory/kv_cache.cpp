#include "sim/memory/kv_cache.h"

#include <algorithm>
#include <cmath>

#include "core/training/framework.h"
#include "sim/memory/latent_attention.h"
#include "sim/memory/stage_parameters.h"

namespace stagewright {
namespace {

// Prompts are worked on in chunks of this many tokens (the usual default of serving engines), which
// bounds what a forward pass holds.
constexpr double kPromptChunk = 2048;

double layers_per_stage(const TrainingRun& model) {
  return std::ceil(static_cast<double>(model.shape.layers) / model.pp);
}

double parameters_of(const ServingRun& run) {
  FrameworkProfile plain;
  plain.experts_divided_by_tensor = run.model.ep == 1;
  double most = 0;
  for (std::int32_t stage = 0; stage < run.model.pp; ++stage) {
    const StageParameters parameters = stage_parameters(run.model, plain, stage);
    most = std::max(most, parameters.dense + parameters.expert);
  }
  return most;
}

}  // namespace

double cache_bytes_per_token(const ServingRun& run) {
  const TransformerShape& shape = run.model.shape;
  if (run.model.latent_attention) {
    return layers_per_stage(run.model) * run.cache_bytes *
           (LatentAttention::kKeyValueRank + LatentAttention::kRope);
  }
  const double heads = std::max(static_cast<double>(shape.kv_heads) / run.model.tp, 1.0);
  return 2 * layers_per_stage(run.model) * heads * static_cast<double>(shape.head_dim) *
         run.cache_bytes;
}

ServingMemory serving_memory(const ServingRun& run,
                             const DeviceType& device,
                             const MemoryConstants& constants) {
  const TransformerShape& shape = run.model.shape;
  const double tokens = static_cast<double>(run.context) * static_cast<double>(run.sequences);
  const double chunk = std::min(static_cast<double>(run.context), kPromptChunk);
  const double inner = (shape.activation == OpVariant::kSwiGlu ? 3.0 : 2.0) *
                       static_cast<double>(shape.feed_forward) / run.model.tp;
  const double logits =
      static_cast<double>(run.sequences) * static_cast<double>(shape.vocabulary) / run.model.tp * 4;
  const double widest = chunk * run.weight_bytes * (2 * static_cast<double>(shape.hidden) + inner);
  const int groups = (run.model.tp > 1 ? 1 : 0) + (run.model.pp > 1 ? 1 : 0);
  constexpr double kMega = 1e6;
  return {.weights = Bytes(std::llround(parameters_of(run) * run.weight_bytes)),
          .cache = Bytes(std::llround(tokens * cache_bytes_per_token(run))),
          .activations = Bytes(std::llround(widest + logits)),
          .context = device.context +
                     Bytes(std::llround(
                         kMega * (constants[MemoryConstant::kWorkspaceMegabytes] +
                                  groups * constants[MemoryConstant::kCommunicatorMegabytes])))};
}

std::optional<std::int64_t> most_sequences(const ServingRun& run,
                                           const DeviceType& device,
                                           const MemoryConstants& constants) {
  ServingRun empty = run;
  empty.sequences = 0;
  const Bytes rest = device.memory - serving_memory(empty, device, constants).total();
  if (rest < Bytes{}) {
    return std::nullopt;
  }
  empty.sequences = 1;
  const Bytes one = serving_memory(empty, device, constants).total() - (device.memory - rest);
  return one > Bytes{} ? rest.count() / one.count() : 0;
}

}  // namespace stagewright
