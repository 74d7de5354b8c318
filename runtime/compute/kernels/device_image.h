#pragma once

#include <cstddef>
#include <span>

namespace stagewright {

/// The kernels as nvcc compiled them, for several generations of devices (a fat binary).  Empty in
/// a build that found no nvcc.
[[nodiscard]] std::span<const std::byte> device_image();

}  // namespace stagewright
