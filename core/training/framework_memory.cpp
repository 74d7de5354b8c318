#include "core/training/framework_memory.h"

#include <array>
#include <vector>

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 2> kSplits = {"even", "by-flops"};
constexpr std::array<std::string_view, 3> kAllocators = {"expandable", "caching", "fragmenting"};

StateBytes read_state(JsonReader& reader, std::string_view key) {
  StateBytes state;
  if (!reader.object(key, [&state](JsonReader& bytes) {
        state.weight = bytes.bytes("weight");
        state.gradient = bytes.bytes("gradient");
        state.master = bytes.bytes("master");
        state.moments = bytes.bytes("moments");
      })) {
    reader.reject(key, "is absent; give the bytes of weight, gradient, master and moments");
  }
  return state;
}

std::optional<Bytes> bytes_if_there(JsonReader& reader, std::string_view key) {
  return reader.has(key) ? std::optional(reader.bytes(key)) : std::nullopt;
}

}  // namespace

FrameworkMemory read_framework_memory(JsonReader& reader) {
  FrameworkMemory memory;
  memory.bf16 = read_state(reader, "bf16");
  memory.fp16 = read_state(reader, "fp16");
  memory.fp32 = read_state(reader, "fp32");
  memory.step = reader.bytes("step");
  memory.logit = reader.bytes("logit");
  memory.compiled_logit = bytes_if_there(reader, "compiled_logit");
  memory.fused_logit = bytes_if_there(reader, "fused_logit");
  memory.keeps_gathered = reader.boolean("keeps_gathered");
  memory.dropout = reader.boolean("dropout");
  memory.stage_split =
      static_cast<StageSplit>(reader.one_of("stage_split", {kSplits.begin(), kSplits.end()}));
  memory.allocator = static_cast<AllocatorUse>(
      reader.one_of("allocator", {kAllocators.begin(), kAllocators.end()}));
  memory.buckets = reader.bytes("buckets");
  if (reader.has("live_parameters")) {
    memory.live_parameters = reader.positive("live_parameters");
  }
  return memory;
}

std::string_view name_of(StageSplit split) {
  return kSplits[static_cast<std::size_t>(split)];
}

std::string_view name_of(AllocatorUse use) {
  return kAllocators[static_cast<std::size_t>(use)];
}

}  // namespace stagewright
