#pragma once

#include <vector>

#include "core/schedule/lifetimes.h"
#include "core/schedule/rank_program.h"
#include "sim/memory/memory_timeline.h"

namespace stagewright {

/// What is live from an operation on, until the next change.
struct MemoryChange {
  ProgramPoint at;
  LiveBytes live{};
  friend bool operator==(const MemoryChange&, const MemoryChange&) = default;
};

/// Every operation that takes memory, in issue order, with what is live once it has: each class's
/// largest value here is its high-water mark in memory_peaks().
[[nodiscard]] std::vector<MemoryChange> memory_changes(const RankProgram& program);

}  // namespace stagewright
