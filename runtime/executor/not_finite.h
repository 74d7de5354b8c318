#pragma once

#include <cstddef>
#include <optional>

#include "core/schedule/rank_program.h"
#include "runtime/compute/compute_device.h"

namespace stagewright {

/// The first output of an operation in which an element is NaN or infinite.  Workspaces, whose
/// content means nothing, and the largest logits of a part of the vocabulary that is empty do not
/// count.  Waits for the device.
[[nodiscard]] std::optional<std::size_t> first_not_finite(const RankProgram& program,
                                                          const BoundOperation& bound,
                                                          ComputeDevice& device);

}  // namespace stagewright
