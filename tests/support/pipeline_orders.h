#pragma once

#include <algorithm>
#include <cstdint>

#include "core/schedule/pipeline_order.h"

namespace stagewright::test {

/// An order with one stage per rank and nothing to do yet.
inline PipelineOrder empty_order(std::int32_t ranks, std::int32_t micro_batches) {
  PipelineOrder order;
  order.stages = ranks;
  order.micro_batches = micro_batches;
  order.placement.resize(1);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    order.placement[0].push_back(rank);
  }
  order.ranks.resize(static_cast<std::size_t>(ranks));
  return order;
}

inline Action compute_action(ActionKind kind, std::int32_t stage, std::int32_t m) {
  Action action;
  action.kind = kind;
  action.stage = StageId(stage);
  action.micro_batch = MicroBatchId(m);
  return action;
}

/// To the rank of the same number as the stage.
inline void append(PipelineOrder& order, ActionKind kind, std::int32_t stage, std::int32_t m) {
  order.ranks[static_cast<std::size_t>(stage)].push_back(compute_action(kind, stage, m));
}

/// All micro-batches through all stages, no backward.
inline PipelineOrder forward_only(std::int32_t ranks, std::int32_t micro_batches) {
  PipelineOrder order = empty_order(ranks, micro_batches);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    for (std::int32_t m = 0; m < micro_batches; ++m) {
      append(order, ActionKind::kForward, rank, m);
    }
  }
  return order;
}

/// All forwards, then all backwards (Huang et al. 2019).
inline PipelineOrder gpipe(std::int32_t ranks, std::int32_t micro_batches) {
  PipelineOrder order = forward_only(ranks, micro_batches);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    for (std::int32_t m = 0; m < micro_batches; ++m) {
      append(order, ActionKind::kBackward, rank, m);
    }
  }
  return order;
}

/// Warm-up of ranks - 1 - rank forwards, then one forward and one backward in turn, then the
/// rest of the backwards (Narayanan et al. 2021, PipeDream-flush).
inline PipelineOrder one_forward_one_backward(std::int32_t ranks, std::int32_t micro_batches) {
  PipelineOrder order = empty_order(ranks, micro_batches);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::int32_t warm_up = std::min(ranks - 1 - rank, micro_batches);
    for (std::int32_t m = 0; m < warm_up; ++m) {
      append(order, ActionKind::kForward, rank, m);
    }
    for (std::int32_t m = warm_up; m < micro_batches; ++m) {
      append(order, ActionKind::kForward, rank, m);
      append(order, ActionKind::kBackward, rank, m - warm_up);
    }
    for (std::int32_t m = micro_batches - warm_up; m < micro_batches; ++m) {
      append(order, ActionKind::kBackward, rank, m);
    }
  }
  return order;
}

}  // namespace stagewright::test
