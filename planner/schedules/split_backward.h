#pragma once

#include <cstdint>

#include "planner/schedules/generator.h"

namespace stagewright {

/// How a looped schedule with split backward fills its lists.
struct SplitBackwardRule {
  std::int32_t group = 1;  ///< micro-batches (chunk_groups.h)
  /// 1: warm up with P - 1 - r forwards beyond the groups and let r weight halves wait (one
  /// activation per rank in flight); 2: twice both.
  std::int32_t depth = 1;
  /// Halves only where they shorten the fill and the drain: whole backwards on rank 0, and on the
  /// others from pair depth * r on up to the last pair but one.
  bool whole_when_steady = false;
};

/// Zero-bubble orders on looped stages (Qi et al. 2023): (V - 1) N + depth (P - 1 - r) forwards,
/// then pairs of a forward and a backward-input half, and from pair depth * r on also the oldest
/// pending weight half, unless the backward is whole; the rest of the weight halves at the end.
[[nodiscard]] PipelineOrder split_backward_order(const PipelineShape& shape,
                                                 const SplitBackwardRule& rule);

}  // namespace stagewright
