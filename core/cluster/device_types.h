#pragma once

#include <cstdint>
#include <vector>

#include "core/cluster/cluster.h"

namespace stagewright {

/// The type of every device, into Cluster::types.
[[nodiscard]] std::vector<std::int32_t> device_types(const Cluster& cluster);

}  // namespace stagewright
