#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/json_reader.h"
#include "core/base/units.h"

namespace stagewright {

/// Bytes that a framework keeps for each parameter while it trains in one number format.
struct StateBytes {
  Bytes weight{};    ///< what products read
  Bytes gradient{};  ///< accumulated, between the first backward and the step
  Bytes master{};    ///< wider copy of the weight
  Bytes moments{};   ///< of Adam, and whatever else is divided along with them
  friend bool operator==(const StateBytes&, const StateBytes&) = default;
};

/// How many layers each stage of a pipeline gets where the run does not say.
enum class StageSplit : std::uint8_t {
  /// Equal; where the layers do not divide but layers + 2 do, embedding and head count as a layer
  /// each; else the first stages get one more.
  kEven,
  /// Cut where the running sum of floating-point operations passes each stage's share; the layer
  /// that passes it stays.
  kByFlops,
};

/// How a framework uses the caching allocator: decides how much more is reserved than allocated.
enum class AllocatorUse : std::uint8_t {
  kExpandable,   ///< expandable segments, or buffers made once
  kCaching,      ///< the allocator's defaults
  kFragmenting,  ///< defaults, with blocks of changing size between long-lived ones
};

/// What a training framework keeps in memory: facts about its code, the `memory` object of its
/// profile (docs/memory.md has every key).
struct FrameworkMemory {
  StateBytes bf16;
  StateBytes fp16;
  StateBytes fp32;
  /// Per parameter of the optimizer's shard, only during the step.
  Bytes step{};
  /// Per element of the logits, where the loss is largest: copies, softmax, gradient.
  Bytes logit{};
  std::optional<Bytes> compiled_logit;  ///< with torch.compile; absent: the same
  std::optional<Bytes> fused_logit;     ///< with a fused loss; absent: the same
  /// Sequence parallelism keeps a norm's output gathered for backward, not its shard.
  bool keeps_gathered = false;
  /// Models of GPT-2's kind train with dropout after attention and MLP unless told otherwise.
  bool dropout = false;
  StageSplit stage_split = StageSplit::kEven;
  AllocatorUse allocator = AllocatorUse::kCaching;
  Bytes buckets{};  ///< buffers for gradient reduction and parameter gathering
  /// Parameters that ZeRO-3 holds gathered at most; absent: two layers, and the embedding and head.
  std::optional<std::int64_t> live_parameters;
  friend bool operator==(const FrameworkMemory&, const FrameworkMemory&) = default;
};

/// Reads the object; errors go to `reader`.
[[nodiscard]] FrameworkMemory read_framework_memory(JsonReader& reader);

[[nodiscard]] std::string_view name_of(StageSplit split);
[[nodiscard]] std::string_view name_of(AllocatorUse use);

}  // namespace stagewright
