#include "core/cluster/device_types.h"

namespace stagewright {

std::vector<std::int32_t> device_types(const Cluster& cluster) {
  std::vector<std::int32_t> types;
  types.reserve(static_cast<std::size_t>(cluster.device_count()));
  for (const Node& node : cluster.nodes) {
    types.insert(types.end(), node.devices.begin(), node.devices.end());
  }
  return types;
}

}  // namespace stagewright
