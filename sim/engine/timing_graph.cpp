#include "sim/engine/timing_graph.h"

#include <algorithm>
#include <iterator>

#include "core/base/check.h"
#include "core/schedule/wait_cycle.h"

namespace stagewright {

void time_actions(const TimingGraph& graph,
                  std::span<const Duration> durations,
                  std::span<Duration> starts) {
  SW_CHECK(durations.size() == graph.nodes() && starts.size() == graph.nodes(),
           "one duration and one start per node");
  for (const NodeIndex node : graph.order) {
    const auto i = static_cast<std::size_t>(node);
    Duration start{};
    for (auto e = static_cast<std::size_t>(graph.edge_begin[i]);
         e < static_cast<std::size_t>(graph.edge_begin[i + 1]);
         ++e) {
      const auto from = static_cast<std::size_t>(graph.from[e]);
      start = std::max(start, starts[from] + durations[from] + graph.lag[e]);
    }
    starts[i] = start;
  }
}

NodeIndex TimingGraphBuilder::add_node() {
  return nodes_++;
}

void TimingGraphBuilder::add_edge(NodeIndex from, NodeIndex to, EdgeKind kind, Duration lag) {
  SW_CHECK(from >= 0 && from < nodes_ && to >= 0 && to < nodes_, "an edge between known nodes");
  edges_.push_back({from, to, kind, lag});
}

namespace {

/// Kahn's algorithm: `order` gets all nodes but those on or behind a cycle.
void sort_topologically(TimingGraph& graph) {
  const std::size_t nodes = graph.edge_begin.size() - 1;
  std::vector<std::int32_t> out_begin(nodes + 1, 0);
  for (const NodeIndex from : graph.from) {
    ++out_begin[static_cast<std::size_t>(from) + 1];
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    out_begin[i + 1] += out_begin[i];
  }
  std::vector<NodeIndex> out(graph.from.size());
  std::vector<std::int32_t> next(out_begin.begin(), out_begin.end() - 1);
  std::vector<std::int32_t> waiting(nodes, 0);
  for (std::size_t to = 0; to < nodes; ++to) {
    waiting[to] = graph.edge_begin[to + 1] - graph.edge_begin[to];
    for (auto e = graph.edge_begin[to]; e < graph.edge_begin[to + 1]; ++e) {
      const auto from = static_cast<std::size_t>(graph.from[static_cast<std::size_t>(e)]);
      out[static_cast<std::size_t>(next[from]++)] = static_cast<NodeIndex>(to);
    }
  }
  graph.order.reserve(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    if (waiting[i] == 0) {
      graph.order.push_back(static_cast<NodeIndex>(i));
    }
  }
  for (std::size_t done = 0; done < graph.order.size(); ++done) {
    const auto from = static_cast<std::size_t>(graph.order[done]);
    for (auto e = out_begin[from]; e < out_begin[from + 1]; ++e) {
      const NodeIndex to = out[static_cast<std::size_t>(e)];
      if (--waiting[static_cast<std::size_t>(to)] == 0) {
        graph.order.push_back(to);
      }
    }
  }
}

/// A cycle into which the first unfinished node leads.
std::vector<NodeIndex> find_cycle(const TimingGraph& graph) {
  std::vector<bool> done(graph.edge_begin.size() - 1, false);
  for (const NodeIndex node : graph.order) {
    done[static_cast<std::size_t>(node)] = true;
  }
  const auto first = std::ranges::find(done, false);
  return shortest_wait_cycle<NodeIndex>(
      {static_cast<NodeIndex>(first - done.begin())}, [&](NodeIndex node) {
        const auto i = static_cast<std::size_t>(node);
        std::vector<NodeIndex> unfinished;
        std::copy_if(graph.from.begin() + graph.edge_begin[i],
                     graph.from.begin() + graph.edge_begin[i + 1],
                     std::back_inserter(unfinished),
                     [&done](NodeIndex from) { return !done[static_cast<std::size_t>(from)]; });
        return unfinished;
      });
}

}  // namespace

TimingGraphBuilder::Built TimingGraphBuilder::build() const {
  Built built;
  TimingGraph& graph = built.graph;
  const auto nodes = static_cast<std::size_t>(nodes_);
  graph.edge_begin.assign(nodes + 1, 0);
  for (const Edge& edge : edges_) {
    ++graph.edge_begin[static_cast<std::size_t>(edge.to) + 1];
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    graph.edge_begin[i + 1] += graph.edge_begin[i];
  }
  graph.from.resize(edges_.size());
  graph.lag.resize(edges_.size());
  graph.kind.resize(edges_.size());
  std::vector<std::int32_t> next(graph.edge_begin.begin(), graph.edge_begin.end() - 1);
  for (const Edge& edge : edges_) {
    const auto e = static_cast<std::size_t>(next[static_cast<std::size_t>(edge.to)]++);
    graph.from[e] = edge.from;
    graph.lag[e] = edge.lag;
    graph.kind[e] = edge.kind;
  }
  sort_topologically(graph);
  if (graph.order.size() < nodes) {
    built.cycle = find_cycle(graph);
  }
  return built;
}

}  // namespace stagewright
