#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/units.h"
#include "core/training/training_setup.h"
#include "sim/memory/memory_constants.h"

namespace stagewright {

/// Parts of the memory that one device holds; they add up to what the driver shows.
enum class MemoryTerm : std::uint8_t {
  kParameters,  ///< what products read
  kGradients,
  kMasterWeights,
  kMoments,      ///< optimizer state beside the master weights
  kStepBuffers,  ///< temporaries of the optimizer step
  kActivations,  ///< kept for backward by the micro-batches in flight
  kWorkingSet,   ///< of one layer's backward: what it recomputes, gradients inside it
  kLogits,       ///< logits, their fp32 copies, softmax and gradient
  kGathered,     ///< parameters and gradients of layers that ZeRO-3 holds whole
  kTransfers,    ///< between stages
  kBuckets,      ///< for gradient reduction and parameter gathering
  kWorkspace,    ///< of matrix libraries
  kReserve,      ///< taken from the driver by the allocator, not in use
  kContext,      ///< driver, kernels, communicators
};
inline constexpr std::size_t kMemoryTermCount = static_cast<std::size_t>(MemoryTerm::kContext) + 1;
[[nodiscard]] std::string_view name_of(MemoryTerm term);  ///< "activations"

/// What is largest on a device: the moment that the terms describe.
enum class MemoryMoment : std::uint8_t {
  kBackward,
  kOptimizerStep,
};
[[nodiscard]] std::string_view name_of(MemoryMoment moment);

/// How a figure of memory is taken.
enum class MemoryView : std::uint8_t {
  kAllocated,  ///< live tensors (torch.cuda.max_memory_allocated)
  kReserved,   ///< what the caching allocator holds (max_memory_reserved)
  kDriver,     ///< what nvidia-smi shows
};

/// One device of a pipeline rank at its fullest moment.
struct StageMemory {
  std::int32_t stage = 0;  ///< pipeline rank
  MemoryMoment moment = MemoryMoment::kBackward;
  std::array<Bytes, kMemoryTermCount> terms{};
  friend bool operator==(const StageMemory&, const StageMemory&) = default;

  [[nodiscard]] Bytes operator[](MemoryTerm term) const {
    return terms[static_cast<std::size_t>(term)];
  }
  Bytes& operator[](MemoryTerm term) { return terms[static_cast<std::size_t>(term)]; }
  [[nodiscard]] Bytes seen_as(MemoryView view) const;
  [[nodiscard]] Bytes states() const;  ///< parameters, gradients, optimizer state
  /// The largest term, reserve and context apart.
  [[nodiscard]] MemoryTerm dominant() const;
};

/// Closed form of the memory of pipeline rank `stage` (docs/memory.md has every formula and its
/// source).  REQUIRES: check(setup.run) holds, 0 <= stage < setup.run.pp.
[[nodiscard]] StageMemory stage_memory(const TrainingSetup& setup,
                                       const MemoryConstants& constants,
                                       std::int32_t stage);

/// The fullest pipeline rank.  No allocation; a few microseconds.
[[nodiscard]] StageMemory step_memory(const TrainingSetup& setup, const MemoryConstants& constants);

/// Whether the driver's figure of the fullest rank is at most the device's memory.
[[nodiscard]] bool fits(const StageMemory& memory, const DeviceType& device);

}  // namespace stagewright
