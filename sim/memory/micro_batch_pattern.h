#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/schedule/rank_program.h"
#include "core/schedule/touches.h"
#include "sim/memory/live_bytes.h"

namespace stagewright {

/// What one action adds to and takes from the live bytes, relative to its beginning.
struct ActionProfile {
  LiveBytes highest{};  ///< at the moment with the largest total (the beginning counts as zero)
  LiveBytes largest{};  ///< by class, each at its own moment
  LiveBytes after{};    ///< when the action is over; may be negative
  friend bool operator==(const ActionProfile&, const ActionProfile&) = default;
};

/// A tensor that a message carries away: it stays until the next send on the channel, which is not
/// the same for every micro-batch.
struct SentTensor {
  std::size_t send = 0;  ///< position in the micro-batch's actions
  std::size_t tensor_class = 0;
  Bytes bytes{};
  friend bool operator==(const SentTensor&, const SentTensor&) = default;
};

/// The memory of a micro-batch over its own actions.  All micro-batches of a rank that go through
/// the same actions have the same pattern, wherever these stand among those of others.
struct MicroBatchPattern {
  std::vector<ActionProfile> actions;
  std::vector<SentTensor> sent;
  friend bool operator==(const MicroBatchPattern&, const MicroBatchPattern&) = default;
};

/// By the rules of core/schedule/lifetimes.h.  Nothing if a tensor is used again after it was sent,
/// so that its end depends on the order among micro-batches.
[[nodiscard]] std::optional<MicroBatchPattern> micro_batch_pattern(
    const RankProgram& program, TouchTable& touches, const std::vector<Action>& actions);

}  // namespace stagewright
