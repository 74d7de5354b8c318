#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/rank_program.h"

namespace stagewright {

/// Operations of one rank from the moment when all streams are idle and all that comes from
/// elsewhere is there.
struct OperationRun {
  std::vector<Duration> start;  ///< by operation
  /// Idle time of the compute stream until a collective was done.
  struct Wait {
    std::size_t op = 0;  ///< the one that waited
    std::size_t collective = 0;
    Duration time{};
    friend bool operator==(const Wait&, const Wait&) = default;
  };
  std::vector<Wait> waits;
  bool computes = false;     ///< some operation runs on the compute stream
  Duration compute_begin{};  ///< of the first of them
  Duration compute_end{};    ///< of the last
  Duration end{};            ///< on any stream
  friend bool operator==(const OperationRun&, const OperationRun&) = default;
};

/// Runs operations by the rules of operation.h: in order on each stream, after the last writers of
/// what they read and the last users of what they write.  Tensors that share memory count as one.
/// A collective that `blocks` holds the compute stream, too, which waits for all of it; empty: none
/// does.
/// REQUIRES: one duration per operation; `program` holds their tensors.
[[nodiscard]] OperationRun run_operations(const RankProgram& program,
                                          std::span<const Operation* const> ops,
                                          std::span<const Duration> durations,
                                          const std::vector<bool>& blocks);

}  // namespace stagewright
