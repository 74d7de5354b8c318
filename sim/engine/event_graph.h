#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/timing_graph.h"
#include "sim/network/link_network.h"

namespace stagewright {

/// A step as the event engine runs it: every rank, every message, and where each takes place.
/// Structure of arrays, by node.
struct EventGraph {
  enum class Kind : std::uint8_t {
    kDelay,    ///< takes its time whatever else happens; none: a place in the order
    kCompute,  ///< on a device
    kFlow,     ///< a message or collective, over a route
  };
  TimingGraph graph;  ///< no lags
  std::vector<Kind> kind;
  std::vector<std::int32_t> place;   ///< device, or route
  std::vector<Duration> alone;       ///< time with nobody in its way; flows: latency included
  std::vector<std::int32_t> rank;    ///< whose it is; of several, one of them
  std::vector<std::int32_t> action;  ///< counted over all ranks; messages have their own
  std::vector<std::uint8_t> first;   ///< whether the action issues its computation with this node
  std::int32_t ranks = 0;
  std::vector<std::int32_t> ranks_on_device;  ///< by device
  LinkNetwork network;

  [[nodiscard]] std::size_t nodes() const { return kind.size(); }
};

/// Drops from all routes the links that are never full, whoever is on them at once: those that the
/// flows of one channel use one after the other, and those wide enough for all of their channels
/// together.  `channel`, by node: flows of one channel never run at the same time.
void drop_free_links(EventGraph& graph, const std::vector<std::int32_t>& channel);

}  // namespace stagewright
