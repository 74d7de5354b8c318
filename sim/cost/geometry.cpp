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

/// Groups that leave the busiest of these nodes.
std::int32_t leaving(const Cluster& cluster,
                     const std::map<NodeId, std::int32_t>& nodes,
                     std::span<const std::vector<DeviceId>> groups) {
  std::int32_t busiest = 1;
  std::map<NodeId, std::int32_t> counts;
  for (const std::vector<DeviceId>& group : groups) {
    const std::map<NodeId, std::int32_t> touched = count_by_node(cluster, group);
    if (touched.size() == 1) {
      continue;  // it uses no port
    }
    for (const auto& [node, members] : touched) {
      if (nodes.contains(node)) {
        busiest = std::max(busiest, ++counts[node]);
      }
    }
  }
  return busiest;
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
  return geometry_of(cluster, own, own.size() > 1 ? leaving(cluster, own, concurrent) : 1);
}

}  // namespace stagewright
