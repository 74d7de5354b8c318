#pragma once

namespace stagewright {

/// The longest time that one operation, transfer or measurement may take (46 days): the sum of two
/// fits the clock.  from_seconds turns what is longer, or no number, into that; who adds up many
/// such times checks their sum first (sim/engine/clock_check.h).
inline constexpr double kLongestSeconds = 4e6;

}  // namespace stagewright
