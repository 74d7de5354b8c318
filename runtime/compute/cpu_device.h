#pragma once

#include <memory>

#include "runtime/compute/compute_device.h"

namespace stagewright {

/// The host's processor in fp32, on the calling thread.  Two-column operands (statistics of a layer
/// norm, sums of the loss) lie as two columns one after the other.
[[nodiscard]] std::unique_ptr<ComputeDevice> make_cpu_device();

}  // namespace stagewright
