#include "core/cluster/cluster.h"

#include "core/base/check.h"

namespace stagewright {

std::int32_t Cluster::device_count() const {
  std::size_t count = 0;
  for (const Node& node : nodes) {
    count += node.devices.size();
  }
  return static_cast<std::int32_t>(count);
}

NodeId Cluster::node_of(DeviceId device) const {
  std::size_t before = 0;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    before += nodes[n].devices.size();
    if (device.index() < before) {
      return NodeId(n);
    }
  }
  SW_CHECK(false, "a device of the cluster");
  return {};
}

std::vector<NodeId> Cluster::node_table() const {
  std::vector<NodeId> table;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    table.insert(table.end(), nodes[n].devices.size(), NodeId(n));
  }
  return table;
}

const DeviceType& Cluster::type_of(DeviceId device) const {
  std::size_t index = device.index();
  for (const Node& node : nodes) {
    if (index < node.devices.size()) {
      return types[static_cast<std::size_t>(node.devices[index])];
    }
    index -= node.devices.size();
  }
  SW_CHECK(false, "a device of the cluster");
  return types.front();
}

const LinkSpec& Cluster::intra_link(NodeId node) const {
  return intra_node
             ? *intra_node
             : types[static_cast<std::size_t>(nodes[node.index()].devices.front())].intra_node;
}

const LinkSpec& Cluster::inter_link(NodeId node) const {
  return inter_node
             ? *inter_node
             : types[static_cast<std::size_t>(nodes[node.index()].devices.front())].inter_node;
}

}  // namespace stagewright
