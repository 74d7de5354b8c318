#pragma once

#include <cstddef>
#include <optional>

#include "core/plan/optimizer.h"
#include "core/schedule/operation.h"

namespace stagewright {

/// Which output of an operation is the fp32 master copy of the weights that it updates: the one
/// behind the optimizer's moments.  Nothing where there is none, or the operation is no update.
[[nodiscard]] std::optional<std::size_t> master_output(const Operation& operation,
                                                       const OptimizerSpec& optimizer);

}  // namespace stagewright
