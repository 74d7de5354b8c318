#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

/// Pipeline parallelism as one pipeline rank sees it.
struct PipelineAxis {
  std::int32_t rank = 0;
  std::vector<StageId> stages;         ///< that it holds, ascending
  std::vector<StageId> handed_over{};  ///< those whose next stage, of the same copy, is here too
  std::vector<std::int32_t> peers;     ///< pipeline ranks it exchanges messages with, by PeerSlot
  friend bool operator==(const PipelineAxis&, const PipelineAxis&) = default;

  /// Whether what the stage makes goes to the next stage without a message.
  [[nodiscard]] bool hands_over(StageId stage) const;
  /// REQUIRES: it is a peer.
  [[nodiscard]] PeerSlot slot_of(std::int32_t peer) const;
};

/// The pipeline rank that runs a micro-batch on a stage.
[[nodiscard]] std::int32_t pipeline_rank_of(const PipelineOrder& order,
                                            StageId stage,
                                            MicroBatchId micro_batch);

/// By pipeline rank.  Peers are the ranks of the neighbouring stages of the same copy, ascending; a
/// neighbour on the same rank is a local hand-over and no peer.  REQUIRES: no rank holds two copies
/// of one stage.
[[nodiscard]] std::vector<PipelineAxis> pipeline_axes(const PipelineOrder& order);

}  // namespace stagewright
