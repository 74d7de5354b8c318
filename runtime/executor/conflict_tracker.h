#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/executor/rank_plan.h"

namespace stagewright {

/// Finds what an instruction must wait for: whoever touched the same bytes before it on another
/// lane, where one of the two writes.  Instructions of one lane run in order anyway.
///
/// Memory is cut at the borders of all operands; each piece remembers its last writer and, per
/// lane, its last reader since.
class ConflictTracker {
 public:
  /// `operands` are all that will ever be passed to add().
  ConflictTracker(std::span<const OperandPlace> operands, std::size_t lanes);

  /// The instructions that number `instruction` waits for: the latest of every other lane that
  /// conflicts, ascending.  Call in issue order.
  [[nodiscard]] std::vector<std::int32_t> add(std::int32_t instruction,
                                              LaneId lane,
                                              std::span<const OperandPlace> reads,
                                              std::span<const OperandPlace> writes);

 private:
  struct Access {
    std::int32_t instruction = 0;
    LaneId lane;
  };
  struct Piece {
    std::vector<Access> writers;  ///< none or one
    std::vector<Access> readers;  ///< at most one per lane
  };

  [[nodiscard]] std::span<Piece> pieces_of(const OperandPlace& operand);

  std::vector<std::int64_t> borders_;
  std::vector<Piece> pieces_;  ///< [i] lies between borders_[i] and borders_[i + 1]
  std::size_t lanes_;
};

}  // namespace stagewright
