#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/comm/element_type.h"

namespace stagewright {

enum class CommKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kAllToAll,
  kRingShift,  ///< each member to the next one, the last to the first
  kBarrier,
  kTransfer,  ///< member 0 to member 1
};

/// What all members of one operation must agree on.
struct Contract {
  CommKind kind = CommKind::kBarrier;
  ElementType type = ElementType::kByte;
  /// Elements of the smaller of `in` and `out`.
  std::size_t count = 0;
  Reduction reduction = Reduction::kSum;
  int root = 0;
  /// Of an all-to-all of counted rows: elements of a row, and experts of a member; else 0.
  std::size_t row = 0;
  std::size_t experts = 0;
  friend bool operator==(const Contract&, const Contract&) = default;
};

/// "all_reduce of 1024 float32 (sum)"
[[nodiscard]] std::string describe(const Contract& contract);

}  // namespace stagewright
