#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/comm/contract.h"
#include "runtime/comm/data_mover.h"

namespace stagewright {

/// The published buffers of one member.  Null where the operation needs none.
struct MemberBuffers {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  const std::int32_t* counts = nullptr;  ///< of counted rows that are sent, by member and expert
};

/// How an operation is cut into pieces that any threads can do in any order: no byte that
/// one chunk writes is read or written by another, also where `in` and `out` are the same.
struct Chunking {
  std::size_t parts = 1;            ///< members' parts of gathers and scatters, else 1
  std::size_t chunks_per_part = 1;  ///< at least 1, also of nothing
  std::size_t chunk_count = 0;      ///< elements of a full chunk

  [[nodiscard]] std::size_t chunks() const { return parts * chunks_per_part; }
};

[[nodiscard]] Chunking cut(const Contract& contract, std::size_t members);

/// Moves, or reduces in member order, one chunk.  REQUIRES: chunk < chunking.chunks().
void do_chunk(DataMover& mover,
              const Contract& contract,
              std::span<const MemberBuffers> members,
              const Chunking& chunking,
              std::size_t chunk);

}  // namespace stagewright
