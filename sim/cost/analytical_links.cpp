#include "sim/cost/analytical_links.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/base/check.h"

namespace stagewright {
namespace {

double reachable(const LinkSpec& link) {
  const double rate = link.bandwidth.count() * link.efficiency;
  SW_CHECK(rate > 0, "a link with a bandwidth");
  return rate;
}

/// Bottleneck of a ring through all members.
double ring_rate(const GroupGeometry& group) {
  double rate =
      group.members_per_node > 1 ? intra_node_rate(group).count() : inter_node_rate(group).count();
  if (group.nodes > 1) {
    rate = std::min(rate, inter_node_rate(group).count());
  }
  return rate;
}

/// Latency of one way around the ring.
Duration ring_latency(const GroupGeometry& group) {
  return group.intra_node.latency * (group.members - group.nodes) +
         group.inter_node.latency * (group.nodes - 1);
}

/// Latency of a reduction to the root: a chain in the node, a binary tree over nodes.
Duration tree_latency(const GroupGeometry& group) {
  const auto levels =
      static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(group.nodes - 1)));
  return group.intra_node.latency * (group.members_per_node - 1) +
         group.inter_node.latency * levels;
}

/// Bytes that a collective inside a node moves on top while its pipeline fills: up to the link's
/// ramp, stated for eight members, the rate is half.
double ramp_bytes(Bytes size, const GroupGeometry& group) {
  if (group.intra_node.ramp == Bytes{} || group.members_per_node < 2) {
    return 0;
  }
  const double ramp = static_cast<double>(group.intra_node.ramp.count()) *
                      std::log2(static_cast<double>(group.members_per_node)) / 3.0;
  return std::min(static_cast<double>(size.count()), ramp);
}

Duration all_to_all_time(Bytes size, const GroupGeometry& group) {
  const double part = static_cast<double>(size.count()) / group.members;  // for one member
  const std::int32_t inside = group.members_per_node - 1;
  const std::int32_t outside = group.members - group.members_per_node;
  double seconds = 0;
  Duration latency{};
  if (inside > 0) {
    seconds = part * inside / intra_node_rate(group).count();
    latency = group.intra_node.latency;
  }
  if (outside > 0) {
    const double own_share = inter_node_rate(group).count() / group.members_per_node;
    seconds = std::max(seconds, part * outside / own_share);
    latency = std::max(latency, group.inter_node.latency);
  }
  return latency + from_seconds(seconds);
}

/// One step round a ring: each member sends all of its message to the next one.  Over nodes the
/// slowest is the one message of each node that leaves it.
Duration ring_shift_time(Bytes size, const GroupGeometry& group) {
  Duration inside{};
  Duration outside{};
  if (group.members_per_node > 1) {
    inside = group.intra_node.latency + size / intra_node_rate(group);
  }
  if (group.nodes > 1) {
    const std::int32_t sharing = std::min(group.inter_node.devices_per_port, group.groups_per_node);
    outside = group.inter_node.latency +
              size / BytesPerSecond(reachable(group.inter_node) / std::max(sharing, 1));
  }
  return std::max(inside, outside);
}

}  // namespace

BytesPerSecond intra_node_rate(const GroupGeometry& group) {
  const std::int32_t sharing = std::min(group.intra_node.devices_per_port, group.members_per_node);
  return BytesPerSecond(reachable(group.intra_node) / std::max(sharing, 1));
}

BytesPerSecond inter_node_rate(const GroupGeometry& group) {
  const std::int32_t active = group.members_per_node * group.groups_per_node;
  const std::int32_t sharing = std::min(group.inter_node.devices_per_port, active);
  return BytesPerSecond(reachable(group.inter_node) * group.members_per_node /
                        std::max(sharing, 1));
}

Duration collective_time(OpKind kind, Bytes size, const GroupGeometry& group) {
  SW_CHECK(class_of(kind) == OpClass::kCollective, "a collective");
  if (group.members <= 1) {
    return Duration{};
  }
  if (kind == OpKind::kAllToAll) {
    return all_to_all_time(size, group);
  }
  if (kind == OpKind::kRingShift) {
    return ring_shift_time(size, group);
  }
  const double others = static_cast<double>(group.members - 1) / group.members;
  const double seconds =
      (static_cast<double>(size.count()) + ramp_bytes(size, group)) / ring_rate(group);
  if (kind == OpKind::kAllReduce) {
    return 2 * std::min(ring_latency(group), tree_latency(group)) +
           from_seconds(2 * others * seconds);
  }
  if (kind == OpKind::kBroadcast) {
    return std::min(ring_latency(group), tree_latency(group)) + from_seconds(seconds);
  }
  return ring_latency(group) + from_seconds(others * seconds);
}

Duration transfer_time(Bytes size, const GroupGeometry& ends) {
  if (ends.nodes > 1) {
    return ends.inter_node.latency + size / inter_node_rate(ends);
  }
  return ends.intra_node.latency + size / intra_node_rate(ends);
}

}  // namespace stagewright
