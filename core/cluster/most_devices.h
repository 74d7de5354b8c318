#pragma once

#include <cstdint>

namespace stagewright {

/// Devices of a cluster or plan; files that ask for more are refused.  Products of degrees and
/// batches stay far inside 64 bits.
inline constexpr std::int64_t kMostDevices = 10'000'000;

}  // namespace stagewright
