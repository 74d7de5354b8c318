#pragma once

#include "core/base/units.h"
#include "core/model/op.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// Rate at which one device sends to another of its node: the link's reachable bandwidth, divided
/// where members of the group share a port.
[[nodiscard]] BytesPerSecond intra_node_rate(const GroupGeometry& group);

/// Rate at which a group's members on one node send to other nodes, all together, when every
/// group that shares the node's ports sends at once: m members use m ports of bandwidth b, each
/// shared by min(devices_per_port, m * groups_per_node) devices.
[[nodiscard]] BytesPerSecond inter_node_rate(const GroupGeometry& group);

/// Time of a collective whose members are all ready, `size` as bytes_moved(Operation) counts it.
/// Latency and bandwidth (Hockney 1994); n members on k nodes, rings through all members with one
/// lane per member of a node, so that every lane crosses each border once:
///
///   all-reduce                 2 (n - 1) / n * size / B   (Patarasuk and Yuan 2009)
///   all-gather, reduce-scatter   (n - 1) / n * size / B
///   broadcast                              size / B, pipelined
///   all-to-all                 direct exchange, inside and between nodes at once
///
/// with B the smaller of the two rates above, and inside a node half of it for the first
/// log2(members per node) / 3 of the link's `ramp` bytes.  Latency: a message passes (n - k) links
/// inside nodes and (k - 1) between them, twice for an all-reduce; or, where that is faster, a
/// chain inside the node and a binary tree over nodes (Sanders, Speck and Traeff 2009; NCCL
/// since 2.4).
[[nodiscard]] Duration collective_time(OpKind kind, Bytes size, const GroupGeometry& group);

/// Time of a message between the two members of `ends`.
[[nodiscard]] Duration transfer_time(Bytes size, const GroupGeometry& ends);

}  // namespace stagewright
