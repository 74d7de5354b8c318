#pragma once

#include <cstdint>
#include <optional>

#include "core/base/ids.h"
#include "core/plan/plan.h"

namespace stagewright {

/// Data parallelism: ranks that see different tokens and sum their gradients.  These are replicas,
/// which see different sequences, and the members that divide a replica's sequences.
struct DataAxis {
  std::int32_t degree = 1;         ///< replicas times members
  std::optional<GroupSlot> group;  ///< present with more than one replica
  friend bool operator==(const DataAxis&, const DataAxis&) = default;
};

/// Factor of the loss's gradient such that the gradients, summed over micro-batches and replicas,
/// are those of the mean loss per token of the global batch.  REQUIRES: uniform dp.
[[nodiscard]] double loss_gradient_scale(const Plan& plan);
/// The same over the micro-batches of one update, where weights change several times in a step.
[[nodiscard]] double loss_gradient_scale(const Plan& plan, std::int32_t micro_batches);

/// Factor of a rank's summed loss such that its sum over all ranks is the mean loss per token of
/// the global batch: each member of a tensor group computes the same loss.  REQUIRES: uniform dp
/// and tp.
[[nodiscard]] double loss_scale(const Plan& plan);

}  // namespace stagewright
