#include <algorithm>
#include <map>

#include "core/base/check.h"
#include "sim/cost/schedule_geometry.h"

namespace stagewright {
namespace {

/// Members of a group on each node it touches.
std::map<NodeId, std::int32_t> count_by_node(const Cluster& cluster,
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
                          const std::map<NodeId, std::int32_t>& members_by_node,
                          std::int32_t groups_per_node) {
  SW_CHECK(!members_by_node.empty(), "a group on at least one node");
  const LinkSpec* intra = &cluster.intra_link(members_by_node.begin()->first);
  const LinkSpec* inter = &cluster.inter_link(members_by_node.begin()->first);
  GroupGeometry geometry;
  geometry.members = 0;
  geometry.members_per_node = 0;
  geometry.nodes = static_cast<std::int32_t>(members_by_node.size());
  geometry.groups_per_node = groups_per_node;
  for (const auto& [node, count] : members_by_node) {
    geometry.members += count;
    geometry.members_per_node = std::max(geometry.members_per_node, count);
    if (slower(cluster.intra_link(node), *intra)) {
      intra = &cluster.intra_link(node);
    }
    if (slower(cluster.inter_link(node), *inter)) {
      inter = &cluster.inter_link(node);
    }
  }
  geometry.intra_node = *intra;
  geometry.inter_node = *inter;
  return geometry;
}

GroupGeometry geometry_of(const Cluster& cluster,
                          std::span<const DeviceId> members,
                          std::span<const std::vector<DeviceId>> concurrent) {
  const std::map<NodeId, std::int32_t> own = count_by_node(cluster, members);
  std::int32_t groups_per_node = 1;
  if (own.size() > 1) {
    // Only groups that leave a node use its ports.
    std::map<NodeId, std::int32_t> leaving;
    for (const std::vector<DeviceId>& group : concurrent) {
      const std::map<NodeId, std::int32_t> nodes = count_by_node(cluster, group);
      if (nodes.size() > 1) {
        for (const auto& [node, count] : nodes) {
          groups_per_node =
              own.contains(node) ? std::max(groups_per_node, ++leaving[node]) : groups_per_node;
        }
      }
    }
  }
  return geometry_of(cluster, own, groups_per_node);
}

}  // namespace stagewright
