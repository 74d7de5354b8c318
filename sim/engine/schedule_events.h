#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/schedule/schedule.h"
#include "sim/cost/cost_model.h"
#include "sim/engine/event_graph.h"

namespace stagewright {

/// Which ranks are simulated once for all that are alike, traffic included
/// (sim/network/traffic_classes.h).
enum class Representatives : std::uint8_t {
  kNone,           ///< every rank by itself
  kWithinReplica,  ///< for jitter: ranks that work on one micro-batch together scatter as one
  kAll,
};

struct ScheduleEventOptions {
  bool buffered_sends = false;  ///< as SimulationOptions::buffered_sends
  Representatives representatives = Representatives::kNone;
  std::vector<RankId> apart{};  ///< ranks that are like no other: stragglers
};

/// A lowered schedule for the event engine, by the rules of core/schedule/semantics.h.  Ranks that
/// the static pass takes for alike may meet different traffic, so that there are more classes, or
/// every rank stands for itself.
struct ScheduleEvents {
  EventGraph graph;
  std::vector<RankId> stands_for;          ///< by rank: the one that is simulated for it
  std::vector<std::int32_t> action_begin;  ///< by rank: number of its first action, and the end
  std::vector<std::int32_t> node_begin;    ///< by action: into action_nodes, and the end
  /// Nodes of each action in issue order.  A message has two actions, a collective one per member.
  std::vector<NodeIndex> action_nodes;

  /// The nodes of the i-th action of a rank's list; none of a rank that another one stands for.
  [[nodiscard]] std::span<const NodeIndex> nodes_of(RankId rank, std::size_t i) const {
    const std::size_t action = static_cast<std::size_t>(action_begin[rank.index()]) + i;
    const auto first = static_cast<std::size_t>(node_begin[action]);
    return std::span(action_nodes)
        .subspan(first, static_cast<std::size_t>(node_begin[action + 1]) - first);
  }
};

/// Operations and messages are priced as if they had their links alone
/// (GroupGeometry::groups_per_node = 1): what they share, the engine finds.
/// Operations on one stream that nobody else waits for or holds up stand together in one node.
/// REQUIRES: validate(schedule) succeeded.  Fails as simulate().
[[nodiscard]] Result<ScheduleEvents> schedule_events(const Schedule& schedule,
                                                     const Cluster& cluster,
                                                     const CostModel& cost,
                                                     const ScheduleEventOptions& options = {});

}  // namespace stagewright
