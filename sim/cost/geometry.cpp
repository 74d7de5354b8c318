#include <algorithm>
#include <map>
#include <utility>

#include "core/base/check.h"
#include "sim/cost/cost_model.h"

namespace stagewright {
namespace {

/// Members of a group on each node it touches.
std::map<NodeId, std::int32_t> members_by_node(const Cluster& cluster,
                                               std::span<const DeviceId> members) {
  std::map<NodeId, std::int32_t> count;
  for (const DeviceId device : members) {
    ++count[cluster.node_of(device)];
  }
  return count;
}

bool slower(const LinkSpec& a, const LinkSpec& b) {
  return a.bandwidth.count() * a.efficiency < b.bandwidth.count() * b.efficiency;
}

}  // namespace

GroupGeometry geometry_of(const Cluster& cluster,
                          std::span<const DeviceId> members,
                          std::span<const std::vector<DeviceId>> concurrent) {
  SW_CHECK(!members.empty(), "a group has members");
  const std::map<NodeId, std::int32_t> own = members_by_node(cluster, members);
  GroupGeometry geometry;
  geometry.members = static_cast<std::int32_t>(members.size());
  geometry.nodes = static_cast<std::int32_t>(own.size());
  geometry.members_per_node = 0;
  geometry.intra_node = cluster.intra_link(own.begin()->first);
  geometry.inter_node = cluster.inter_link(own.begin()->first);
  for (const auto& [node, count] : own) {
    geometry.members_per_node = std::max(geometry.members_per_node, count);
    if (slower(cluster.intra_link(node), geometry.intra_node)) {
      geometry.intra_node = cluster.intra_link(node);
    }
    if (slower(cluster.inter_link(node), geometry.inter_node)) {
      geometry.inter_node = cluster.inter_link(node);
    }
  }
  if (geometry.nodes == 1) {
    return geometry;
  }
  // Only groups that leave a node use its ports.
  std::map<NodeId, std::int32_t> leaving;
  for (const std::vector<DeviceId>& group : concurrent) {
    const std::map<NodeId, std::int32_t> nodes = members_by_node(cluster, group);
    if (nodes.size() > 1) {
      for (const auto& [node, count] : nodes) {
        ++leaving[node];
      }
    }
  }
  for (const auto& [node, count] : own) {
    geometry.groups_per_node = std::max(geometry.groups_per_node, leaving[node]);
  }
  return geometry;
}

}  // namespace stagewright
