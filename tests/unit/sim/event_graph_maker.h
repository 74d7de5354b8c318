#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/engine/event_engine.h"

namespace stagewright::test {

/// An event graph node by node, for tests that do sums by hand.
class EventGraphMaker {
 public:
  /// So many ranks, each on a device of its own unless `device_of_rank` says otherwise.
  explicit EventGraphMaker(std::vector<std::int32_t> device_of_rank)
      : device_of_rank_(std::move(device_of_rank)) {
    graph.ranks = static_cast<std::int32_t>(device_of_rank_.size());
    for (const std::int32_t device : device_of_rank_) {
      const auto d = static_cast<std::size_t>(device);
      graph.ranks_on_device.resize(std::max(graph.ranks_on_device.size(), d + 1));
      ++graph.ranks_on_device[d];
    }
  }

  NodeIndex compute(std::int32_t rank, Duration time, const std::vector<NodeIndex>& after = {}) {
    const std::int32_t device = device_of_rank_[static_cast<std::size_t>(rank)];
    return add(EventGraph::Kind::kCompute, device, rank, time, after);
  }
  NodeIndex flow(RouteIndex route, Duration time, const std::vector<NodeIndex>& after = {}) {
    return add(EventGraph::Kind::kFlow, route, 0, time, after);
  }

  /// The graph with the edges so far, timed by the event engine.
  EventTimes run(const EventOptions& options = {}) {
    graph.graph = builder_.build().graph;
    return EventEngine(graph, options).run(graph.alone);
  }

  EventGraph graph;

 private:
  NodeIndex add(EventGraph::Kind kind,
                std::int32_t place,
                std::int32_t rank,
                Duration time,
                const std::vector<NodeIndex>& after) {
    const NodeIndex node = builder_.add_node();
    graph.kind.push_back(kind);
    graph.place.push_back(place);
    graph.alone.push_back(time);
    graph.rank.push_back(rank);
    graph.action.push_back(node);
    graph.first.push_back(kind == EventGraph::Kind::kCompute ? 1 : 0);
    for (const NodeIndex from : after) {
      builder_.add_edge(from, node, EdgeKind::kData);
    }
    return node;
  }

  std::vector<std::int32_t> device_of_rank_;
  TimingGraphBuilder builder_;
};

}  // namespace stagewright::test
