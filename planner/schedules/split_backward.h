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
};

/// Zero-bubble orders on looped stages (Qi et al. 2023): (V - 1) N + depth (P - 1 - r) forwards,
/// then pairs of a forward and a backward-input half, and from pair depth * r on also the oldest
/// pending weight half; the rest of the weight halves at the end.
[[nodiscard]] PipelineOrder split_backward_order(const PipelineShape& shape,
                                                 const SplitBackwardRule& rule);

}  // namespace stagewright
