#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/cluster/device.h"

namespace stagewright {

struct Node {
  std::string name;                   ///< optional host name
  std::vector<std::int32_t> devices;  ///< types of its devices, into Cluster::types
  friend bool operator==(const Node&, const Node&) = default;
};

/// A tier of switches above the nodes.
struct SwitchTier {
  std::string name;
  std::int32_t nodes = 0;        ///< under one switch of this tier
  double over_subscription = 1;  ///< traffic leaving it gets 1 / this of the sum of its links
  Duration latency{};            ///< added per crossing
  friend bool operator==(const SwitchTier&, const SwitchTier&) = default;
};

/// Machines and how they are connected.  Devices count over the nodes in order.
struct Cluster {
  std::string name;  ///< short form or name
  std::vector<DeviceType> types;
  std::vector<Node> nodes;
  std::vector<SwitchTier> tiers;  ///< from the nodes upwards; empty: one flat, full-bandwidth level
  /// Overrides of the device type's own links.
  std::optional<LinkSpec> intra_node;
  std::optional<LinkSpec> inter_node;
  friend bool operator==(const Cluster&, const Cluster&) = default;

  [[nodiscard]] std::int32_t device_count() const;
  /// Walks the nodes; loops over many devices use node_table().
  [[nodiscard]] NodeId node_of(DeviceId device) const;
  /// The node of every device.
  [[nodiscard]] std::vector<NodeId> node_table() const;
  [[nodiscard]] const DeviceType& type_of(DeviceId device) const;
  [[nodiscard]] const LinkSpec& intra_link(NodeId node) const;
  [[nodiscard]] const LinkSpec& inter_link(NodeId node) const;
};

/// The device type of that name or alias (letter case does not matter) among profiles/hardware, or
/// an error listing what is near.
[[nodiscard]] Result<DeviceType> find_device(const DataFiles& files, std::string_view name);

/// A cluster from its short form `NODESxDEVICESxTYPE` ("16x8xh100-sxm"; "8xh100" is one node), the
/// name of a file in profiles/clusters, or the path of a JSON file.
[[nodiscard]] Result<Cluster> find_cluster(const DataFiles& files, std::string_view name);

/// A cluster file (docs/adding_hardware.md).  Device types are those of its "device_types", else
/// those of profiles/hardware.
[[nodiscard]] Result<Cluster> parse_cluster(const DataFiles& files,
                                            std::string_view text,
                                            std::string_view where);
/// The cluster as a file that needs no other: device types are written out.
[[nodiscard]] std::string to_json_text(const Cluster& cluster);

}  // namespace stagewright
