#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/model/op.h"
#include "sim/network/link_network.h"

namespace stagewright {

/// The links of a cluster as its geometry has them, and what messages and collectives put on them.
/// Every port and trunk is a link per direction:
///  - devices_per_port devices of a node share a port inside the node (NVLink, PCIe) and a NIC;
///  - a switch of a tier passes traffic that leaves it over one trunk, of the sum of the links
///    below it divided by its over-subscription.
/// Capacities are what link data can reach (bandwidth times efficiency).
class ClusterLinks {
 public:
  /// Both must outlive this; links and routes are added to `network`, empty at first and by
  /// nobody else, when somebody needs them.
  ClusterLinks(const Cluster& cluster, LinkNetwork& network);

  /// The route of a message that takes `alone` by itself, `latency` of it without sending.
  [[nodiscard]] RouteIndex message(
      DeviceId from, DeviceId to, Bytes size, Duration alone, Duration latency);

  /// The route of a collective likewise: as many bytes on every link as its algorithm
  /// (sim/cost/analytical_links.h) sends.  A ring has a lane per member of a node, and each lane
  /// crosses every border once; an all-to-all and a shift go directly.
  [[nodiscard]] RouteIndex collective(
      OpKind kind, Bytes size, std::span<const DeviceId> members, Duration alone, Duration latency);

 private:
  enum class Direction : std::uint8_t {
    kOut,
    kIn
  };
  enum class Level : std::uint8_t {
    kInside,
    kNic,
    kTrunk
  };
  using Load = std::map<LinkIndex, double>;  ///< bytes

  [[nodiscard]] LinkIndex link(
      Level level, std::int32_t tier, std::int32_t place, std::int32_t port, Direction direction);
  [[nodiscard]] LinkIndex inside(DeviceId device, Direction direction);
  [[nodiscard]] LinkIndex nic(DeviceId device, Direction direction);
  void add_trunks(NodeId node, NodeId other, Direction direction, double bytes, Load& load);
  [[nodiscard]] double trunk_capacity(std::size_t tier, std::int32_t place) const;
  [[nodiscard]] double ports_of_node(std::size_t node) const;
  [[nodiscard]] std::int32_t switch_of(NodeId node, std::size_t tier) const;
  [[nodiscard]] RouteIndex add(const Load& load,
                               Duration alone,
                               Duration latency,
                               std::span<const DeviceId> ends);
  void load_device(DeviceId device, double within, double leaving, Load& load);
  void load_trunk(std::size_t tier, std::int32_t place, double bytes, Load& load);
  [[nodiscard]] std::map<std::int32_t, std::int32_t> under_switches(
      std::size_t tier, std::span<const DeviceId> members) const;
  [[nodiscard]] std::map<NodeId, std::int32_t> on_nodes(std::span<const DeviceId> members) const;
  void load_message(DeviceId from, DeviceId to, double bytes, Load& load);
  void load_ring(double bytes, std::span<const DeviceId> members, Load& load);
  void load_ring_shift(double bytes, std::span<const DeviceId> members, Load& load);
  void load_all_to_all(double part, std::span<const DeviceId> members, Load& load);

  const Cluster& cluster_;
  LinkNetwork& network_;
  std::vector<NodeId> node_of_;             ///< by device
  std::vector<std::int32_t> first_device_;  ///< by node
  std::map<std::tuple<Level, std::int32_t, std::int32_t, std::int32_t, Direction>, LinkIndex>
      links_;
  std::vector<bool> is_nic_;  ///< by link
};

}  // namespace stagewright
