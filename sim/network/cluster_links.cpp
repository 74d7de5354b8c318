#include "sim/network/cluster_links.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {
namespace {

double reachable(const LinkSpec& link) {
  return link.bandwidth.count() * link.efficiency;
}

/// Bytes that a ring sends over each border between neighbours, all lanes together.
double ring_bytes(OpKind kind, Bytes size, std::size_t members) {
  const auto bytes = static_cast<double>(size.count());
  const double others = static_cast<double>(members - 1) / static_cast<double>(members);
  if (kind == OpKind::kAllReduce) {
    return 2 * others * bytes;
  }
  return kind == OpKind::kBroadcast ? bytes : others * bytes;
}

}  // namespace

ClusterLinks::ClusterLinks(const Cluster& cluster, LinkNetwork& network)
    : cluster_(cluster), network_(network), node_of_(cluster.node_table()) {
  std::int32_t device = 0;
  for (const Node& node : cluster.nodes) {
    first_device_.push_back(device);
    device += static_cast<std::int32_t>(node.devices.size());
  }
}

std::int32_t ClusterLinks::switch_of(NodeId node, std::size_t tier) const {
  return node.value() / std::max(cluster_.tiers[tier].nodes, 1);
}

double ClusterLinks::ports_of_node(std::size_t node) const {
  const LinkSpec& spec = cluster_.inter_link(NodeId(node));
  const auto devices = static_cast<std::int32_t>(cluster_.nodes[node].devices.size());
  const std::int32_t shared = std::max(spec.devices_per_port, 1);
  const std::int32_t ports = (devices + shared - 1) / shared;
  return reachable(spec) * ports;
}

double ClusterLinks::trunk_capacity(std::size_t tier, std::int32_t place) const {
  const std::int32_t nodes = std::max(cluster_.tiers[tier].nodes, 1);
  const auto first = static_cast<std::size_t>(place) * static_cast<std::size_t>(nodes);
  const std::size_t end = std::min(first + static_cast<std::size_t>(nodes), cluster_.nodes.size());
  double below = 0;
  if (tier == 0) {
    for (std::size_t node = first; node < end; ++node) {
      below += ports_of_node(node);
    }
  } else {
    std::set<std::int32_t> switches;
    for (std::size_t node = first; node < end; ++node) {
      switches.insert(switch_of(NodeId(node), tier - 1));
    }
    for (const std::int32_t child : switches) {
      below += trunk_capacity(tier - 1, child);
    }
  }
  return below / cluster_.tiers[tier].over_subscription;
}

LinkIndex ClusterLinks::link(
    Level level, std::int32_t tier, std::int32_t place, std::int32_t port, Direction direction) {
  const auto [found, is_new] = links_.try_emplace({level, tier, place, port, direction}, 0);
  if (is_new) {
    is_nic_.push_back(level == Level::kNic);
    const char* const way = direction == Direction::kOut ? "out" : "in";
    const NodeId node(place);
    switch (level) {
      case Level::kInside:
        found->second = network_.add_link(
            fmt::format("node {}, {} {}, {}", place, cluster_.intra_link(node).name, port, way),
            BytesPerSecond(reachable(cluster_.intra_link(node))));
        break;
      case Level::kNic:
        found->second = network_.add_link(
            fmt::format("node {}, {} {}, {}", place, cluster_.inter_link(node).name, port, way),
            BytesPerSecond(reachable(cluster_.inter_link(node))));
        break;
      case Level::kTrunk: {
        const auto t = static_cast<std::size_t>(tier);
        found->second =
            network_.add_link(fmt::format("{} switch {}, {}", cluster_.tiers[t].name, place, way),
                              BytesPerSecond(trunk_capacity(t, place)));
        break;
      }
    }
  }
  return found->second;
}

LinkIndex ClusterLinks::inside(DeviceId device, Direction direction) {
  const NodeId node = node_of_[device.index()];
  const std::int32_t shared = std::max(cluster_.intra_link(node).devices_per_port, 1);
  const std::int32_t port = (device.value() - first_device_[node.index()]) / shared;
  return link(Level::kInside, 0, node.value(), port, direction);
}

LinkIndex ClusterLinks::nic(DeviceId device, Direction direction) {
  const NodeId node = node_of_[device.index()];
  const std::int32_t shared = std::max(cluster_.inter_link(node).devices_per_port, 1);
  const std::int32_t port = (device.value() - first_device_[node.index()]) / shared;
  return link(Level::kNic, 0, node.value(), port, direction);
}

/// The trunks between `node` and the lowest switch that it has in common with `other`.
void ClusterLinks::add_trunks(
    NodeId node, NodeId other, Direction direction, double bytes, Load& load) {
  for (std::size_t tier = 0; tier < cluster_.tiers.size(); ++tier) {
    if (switch_of(node, tier) == switch_of(other, tier)) {
      return;
    }
    load[link(
        Level::kTrunk, static_cast<std::int32_t>(tier), switch_of(node, tier), 0, direction)] +=
        bytes;
  }
}

/// Bytes over time sending are rates.  That over a NIC is the flow's, so that flows which meet
/// there get equal parts of it; inside a node that over a port.
RouteIndex ClusterLinks::add(const Load& load,
                             Duration alone,
                             Duration latency,
                             std::span<const DeviceId> ends) {
  std::vector<std::int32_t> devices;
  for (const DeviceId device : ends) {
    devices.push_back(device.value());
  }
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  const double sending = to_seconds(alone - std::min(latency, alone));
  const bool leaves_node = std::ranges::any_of(
      load, [this](const auto& entry) { return is_nic_[static_cast<std::size_t>(entry.first)]; });
  double fastest = 0;
  std::vector<LinkUse> uses;
  for (const auto& [link, bytes] : load) {
    const double capacity = network_.links[static_cast<std::size_t>(link)].capacity.count();
    if (bytes <= 0 || sending <= 0 || capacity <= 0) {
      continue;  // nothing known of it
    }
    // A measured time may beat what the link's data say: alone it still has to fit.
    const double rate = std::min(bytes / sending, capacity);
    uses.push_back({link, rate});
    const bool counts = !leaves_node || is_nic_[static_cast<std::size_t>(link)];
    fastest = counts ? std::max(fastest, rate) : fastest;
  }
  for (LinkUse& use : uses) {
    use.weight /= fastest;
  }
  return network_.add_route(BytesPerSecond(fastest > 0 ? fastest : 1.0), latency, uses, devices);
}

void ClusterLinks::load_message(DeviceId from, DeviceId to, double bytes, Load& load) {
  const NodeId sender = node_of_[from.index()];
  const NodeId receiver = node_of_[to.index()];
  if (sender != receiver) {
    load[nic(from, Direction::kOut)] += bytes;
    load[nic(to, Direction::kIn)] += bytes;
    add_trunks(sender, receiver, Direction::kOut, bytes, load);
    add_trunks(receiver, sender, Direction::kIn, bytes, load);
  } else if (from != to) {
    load[inside(from, Direction::kOut)] += bytes;
    load[inside(to, Direction::kIn)] += bytes;
  }
}

RouteIndex ClusterLinks::message(
    DeviceId from, DeviceId to, Bytes size, Duration alone, Duration latency) {
  Load load;
  load_message(from, to, static_cast<double>(size.count()), load);
  return add(load, alone, latency, std::array{from, to});
}

/// Both directions of a device's port and NIC.
void ClusterLinks::load_device(DeviceId device, double within, double leaving, Load& load) {
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    if (leaving > 0) {
      load[nic(device, direction)] += leaving;
    }
    if (within > 0) {
      load[inside(device, direction)] += within;
    }
  }
}

/// Both directions of a switch's trunk.
void ClusterLinks::load_trunk(std::size_t tier, std::int32_t place, double bytes, Load& load) {
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    load[link(Level::kTrunk, static_cast<std::int32_t>(tier), place, 0, direction)] += bytes;
  }
}

/// Members by switch.
std::map<std::int32_t, std::int32_t> ClusterLinks::under_switches(
    std::size_t tier, std::span<const DeviceId> members) const {
  std::map<std::int32_t, std::int32_t> under;
  for (const DeviceId device : members) {
    ++under[switch_of(node_of_[device.index()], tier)];
  }
  return under;
}

std::map<NodeId, std::int32_t> ClusterLinks::on_nodes(std::span<const DeviceId> members) const {
  std::map<NodeId, std::int32_t> on;
  for (const DeviceId device : members) {
    ++on[node_of_[device.index()]];
  }
  return on;
}

/// Each member's message goes to the next one: over a node's border the one of its last member.
void ClusterLinks::load_ring_shift(double bytes, std::span<const DeviceId> members, Load& load) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    load_message(members[i], members[(i + 1) % members.size()], bytes, load);
  }
}

void ClusterLinks::load_ring(double bytes, std::span<const DeviceId> members, Load& load) {
  const auto nodes = on_nodes(members);
  for (const DeviceId device : members) {
    const std::int32_t lanes = nodes.at(node_of_[device.index()]);
    const double leaving = nodes.size() > 1 ? bytes / lanes : 0;
    load_device(device, lanes > 1 ? bytes - leaving : 0, leaving, load);
  }
  for (std::size_t tier = 0; tier < cluster_.tiers.size(); ++tier) {
    const auto under = under_switches(tier, members);
    if (under.size() == 1) {
      return;
    }
    for (const auto& [place, count] : under) {
      load_trunk(tier, place, bytes, load);
    }
  }
}

/// `part`: what one member has for another.
void ClusterLinks::load_all_to_all(double part, std::span<const DeviceId> members, Load& load) {
  const auto nodes = on_nodes(members);
  const auto all = static_cast<std::int32_t>(members.size());
  for (const DeviceId device : members) {
    const std::int32_t here = nodes.at(node_of_[device.index()]);
    load_device(device, part * (here - 1), part * (all - here), load);
  }
  for (std::size_t tier = 0; tier < cluster_.tiers.size(); ++tier) {
    for (const auto& [place, count] : under_switches(tier, members)) {
      if (count < all) {
        load_trunk(tier, place, part * count * (all - count), load);
      }
    }
  }
}

RouteIndex ClusterLinks::collective(
    OpKind kind, Bytes size, std::span<const DeviceId> members, Duration alone, Duration latency) {
  SW_CHECK(class_of(kind) == OpClass::kCollective, "a collective");
  Load load;
  if (members.size() > 1) {
    if (kind == OpKind::kAllToAll) {
      const auto n = static_cast<double>(members.size());
      load_all_to_all(static_cast<double>(size.count()) / n, members, load);
    } else if (kind == OpKind::kRingShift) {
      load_ring_shift(static_cast<double>(size.count()), members, load);
    } else {
      load_ring(ring_bytes(kind, size, members.size()), members, load);
    }
  }
  return add(load, alone, latency, members);
}

}  // namespace stagewright
