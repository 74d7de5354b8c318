#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "sim/analysis/goodput.h"

namespace stagewright {

/// What expected_goodput and simulated_goodput have in common.
[[nodiscard]] Result<void> check_failures(const FailureModel& model);

/// Given, or the whole number nearest to Daly's interval, at least 1.
/// REQUIRES: a step time and mean time between failures above zero.
[[nodiscard]] std::int64_t steps_between_checkpoints(const FailureModel& model);

}  // namespace stagewright
