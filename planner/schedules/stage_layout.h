#pragma once

#include <cstdint>

#include "planner/schedules/generator.h"

namespace stagewright {

/// Frames of orders: sizes and placement, with empty action lists.

/// Stage s on rank s mod P.
[[nodiscard]] PipelineOrder looped_layout(const PipelineShape& shape);
/// Chunks of P stages run down and up the ranks in turn: V / 2 V-shapes; where they turn, two
/// stages that follow each other share a rank.
[[nodiscard]] PipelineOrder wave_layout(const PipelineShape& shape);
/// P stages in two copies: micro-batches of the first half enter at rank 0 and go down, the others
/// enter at rank P - 1 and go up.
[[nodiscard]] PipelineOrder two_way_layout(const PipelineShape& shape);

[[nodiscard]] inline Action compute_action(ActionKind kind, std::int32_t stage, std::int32_t m) {
  return {.kind = kind,
          .stage = StageId(stage),
          .micro_batch = MicroBatchId(m),
          .peer = {},
          .bucket = {}};
}

}  // namespace stagewright
