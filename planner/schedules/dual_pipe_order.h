#pragma once

#include <cstdint>

#include "planner/schedules/generator.h"

namespace stagewright {

/// One rank of a two-way schedule: micro-batches meet it on a near way (phase 0), on which it comes
/// `distance` stages after the entrance, and on a far way (phase 1), on which they come back.
struct DualPipeRank {
  std::int32_t near_stage = 0;
  std::int32_t far_stage = 0;
  std::int32_t near_first = 0;  ///< first micro-batch of each way
  std::int32_t far_first = 0;
  std::int32_t distance = 0;
  std::int32_t ways = 1;        ///< ranks on one way until the turn, or the middle
  std::int32_t overlapped = 0;  ///< times that the rank runs both overlapped pairs
};

/// Appends the rank's list to order.ranks[rank] and order.pairs[rank], by the eight steps of
/// DualPipe (DeepSeek-AI 2024): forwards, forwards both ways, the first split backwards, overlapped
/// pairs of a forward and a backward, then as much of the same in reverse; the last backwards are
/// split, and their weight halves fill the end.
void append_dual_pipe_rank(PipelineOrder& order, std::size_t rank, const DualPipeRank& way);

}  // namespace stagewright
