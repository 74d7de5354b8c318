#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/cluster/device.h"

namespace stagewright {

/// Puts into `link` what a record's words say about a cluster's network: "4x100 Gb/s ... per
/// node", "(8x400 Gb/s NDR)", "1.6 Tbps RoCE per node", "400 Gb/s ... per GPU", "25 GB/s".  A rate
/// that names neither is the node's where no port is that fast (more than 800 Gb/s) or the words
/// say Ethernet or EFA, whose figures are usually a node's; else each device's.  Without a rate
/// nothing changes.  Fails, naming cluster.inter_link, for a rate of 0.
[[nodiscard]] Result<void> read_network(const std::string& words,
                                        std::int32_t devices_per_node,
                                        LinkSpec& link);

/// The same about the links inside a node: "PCIe 4.0" without NVLink in place of what the device
/// has in its usual node ("PCIe" alone: generation 4).
void read_node_link(const std::string& words, LinkSpec& link);

/// Devices under one NVLink switch system: "NVL72" says so, else the node.
[[nodiscard]] std::int32_t domain_of(const std::string& words, std::int32_t devices_per_node);

}  // namespace stagewright
