#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stagewright {

/// Seconds between events.  A Duration ends at 106 days; the nodes of a cluster last for years.
using MeanTime = std::chrono::duration<double>;

/// "90s", "5h", "264d": a number from above zero to a million years, with a unit from "ps" to "d".
/// Fails with kInvalidInput, saying so.
[[nodiscard]] Result<MeanTime> parse_mean_time(std::string_view text);

/// "264 d", "5 h", "90 s": four digits, in the largest unit of which there is one or more.
[[nodiscard]] std::string to_string(MeanTime time);

}  // namespace stagewright
