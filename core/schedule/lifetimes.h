#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/schedule/rank_program.h"

namespace stagewright {

/// A place in a rank's issue order: an operation of an action, as an index into
/// operations_of(action).ops (of a split backward the whole list).  Sends, receives and loads count
/// as one operation (0).
struct ProgramPoint {
  std::int32_t action = 0;
  std::int32_t op = 0;
  auto operator<=>(const ProgramPoint&) const = default;
};

/// One stretch of time in which one instance of a tensor must keep its content.
struct Lifetime {
  TensorId tensor;
  std::optional<MicroBatchId> micro_batch;  ///< absent: persistent
  Bytes bytes{};                            ///< rounded up to kArenaAlignment
  ProgramPoint first;                       ///< written here ...
  ProgramPoint last;                        ///< ... and used here for the last time
  friend bool operator==(const Lifetime&, const Lifetime&) = default;
};

inline constexpr std::int64_t kArenaAlignment = 64;

/// What a tensor takes in the arena: its bytes, rounded up.
[[nodiscard]] Bytes arena_bytes(const TensorSpec& tensor);

/// All lifetimes of a rank in one step, ascending by `first`.  Rules (the same for predicted and
/// allocated memory):
///  - persistent tensors live from the first to the last point; views have none of their own;
///  - a micro-batch tensor lives from the operation that writes it first to the last one that
///    touches it; a write that does not read the old content (recomputation) starts a new lifetime;
///  - a received tensor lives from its Recv action on;
///  - a sent tensor lives until the next Send to the same peer of the same kind, where that send
///    waits for this one (semantics.h), or to the end of the list.
/// A lifetime ends with the issue of its last operation.  Where that one runs on another stream
/// than the first operation of a lifetime that takes over its memory, the latter waits for it.
/// REQUIRES: the indices of the program lie in their tables.
[[nodiscard]] std::vector<Lifetime> lifetimes(const RankProgram& program);

/// Live bytes per class after each change, and the peaks.
struct MemoryPeaks {
  std::array<Bytes, kTensorClassCount> by_class{};  ///< each class's own high-water mark
  Bytes total{};                                    ///< high-water mark of the sum
  friend bool operator==(const MemoryPeaks&, const MemoryPeaks&) = default;
};
[[nodiscard]] MemoryPeaks memory_peaks(const RankProgram& program,
                                       const std::vector<Lifetime>& lifetimes);

/// Where each lifetime lies in one block of memory.
struct ArenaPlan {
  std::vector<std::int64_t> offsets;  ///< per lifetime
  Bytes capacity{};                   ///< size of the block; >= MemoryPeaks::total
  friend bool operator==(const ArenaPlan&, const ArenaPlan&) = default;
};
/// Offsets such that lifetimes that overlap in time do not overlap in memory: persistent ones
/// first, then by first fit in order of time.  Deterministic.  REQUIRES: ascending by `first`.
[[nodiscard]] ArenaPlan plan_arena(const std::vector<Lifetime>& lifetimes);

}  // namespace stagewright
