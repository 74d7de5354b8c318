#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/schedule/schedule.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// Geometry of everything that a schedule's ranks communicate over.  Equal geometries are stored
/// once, so that a hundred thousand ranks cost an index each.
struct ScheduleGeometry {
  std::vector<GroupGeometry> distinct;
  std::vector<std::int32_t> of_group;               ///< by GroupId, into `distinct`
  std::vector<std::vector<std::int32_t>> of_peers;  ///< by RankId and PeerSlot, into `distinct`
};

/// Geometry of a group that has so many members on each node; where links differ, the slowest
/// count. REQUIRES: at least one node.
[[nodiscard]] GroupGeometry geometry_of(const Cluster& cluster,
                                        const std::map<NodeId, std::int32_t>& members_by_node,
                                        std::int32_t groups_per_node);

/// Groups of one kind are active at once, and so are the transfers of all ranks on a node that run
/// the same program over the same peer slot.
/// Fails with kInvalidInput when a rank's device is not in the cluster.
[[nodiscard]] Result<ScheduleGeometry> schedule_geometry(const Schedule& schedule,
                                                         const Cluster& cluster);

}  // namespace stagewright
