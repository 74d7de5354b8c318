#include "sim/engine/timing_graph.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

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

void TimingGraphBuilder::reserve(std::size_t nodes, std::size_t edges) {
  graph_.edge_begin.reserve(nodes + 1);
  graph_.from.reserve(edges);
  graph_.lag.reserve(edges);
  graph_.kind.reserve(edges);
}

NodeIndex TimingGraphBuilder::add_node() {
  graph_.edge_begin.push_back(static_cast<std::int32_t>(graph_.from.size()));
  return static_cast<NodeIndex>(graph_.edge_begin.size() - 1);
}

void TimingGraphBuilder::add_edge(NodeIndex from, NodeIndex to, EdgeKind kind, Duration lag) {
  const auto count = static_cast<NodeIndex>(nodes());
  SW_CHECK(from >= 0 && from < count && to >= 0 && to < count, "an edge between known nodes");
  if (to + 1 < count) {
    late_.push_back({from, to, kind, lag});
    return;
  }
  graph_.from.push_back(from);
  graph_.lag.push_back(lag);
  graph_.kind.push_back(kind);
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

/// Late edges by the node that they lead to, each node's as they were added.
std::vector<std::int32_t> TimingGraphBuilder::late_by_node() const {
  std::vector<std::int32_t> next(graph_.edge_begin.size() + 1, 0);
  for (const Edge& edge : late_) {
    ++next[static_cast<std::size_t>(edge.to) + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::int32_t> order(late_.size());
  for (std::size_t i = 0; i < late_.size(); ++i) {
    std::int32_t& place = next[static_cast<std::size_t>(late_[i].to)];
    order[static_cast<std::size_t>(place++)] = static_cast<std::int32_t>(i);
  }
  return order;
}

/// Each node's late edges go behind the others: from the last node to the first, in place.
void TimingGraphBuilder::merge_late_edges() {
  const std::vector<std::int32_t> order = late_by_node();
  std::size_t read = graph_.from.size();
  std::size_t write = read + late_.size();
  graph_.from.resize(write);
  graph_.lag.resize(write);
  graph_.kind.resize(write);
  std::size_t late = late_.size();
  for (std::size_t node = graph_.edge_begin.size() - 1; late > 0;) {
    --node;
    graph_.edge_begin[node + 1] = static_cast<std::int32_t>(write);
    for (; late > 0; --late) {
      const Edge& edge = late_[static_cast<std::size_t>(order[late - 1])];
      if (static_cast<std::size_t>(edge.to) != node) {
        break;
      }
      --write;
      graph_.from[write] = edge.from;
      graph_.lag[write] = edge.lag;
      graph_.kind[write] = edge.kind;
    }
    const auto begin = static_cast<std::size_t>(graph_.edge_begin[node]);
    for (; read > begin; --read) {
      --write;
      graph_.from[write] = graph_.from[read - 1];
      graph_.lag[write] = graph_.lag[read - 1];
      graph_.kind[write] = graph_.kind[read - 1];
    }
  }
  late_.clear();
}

TimingGraphBuilder::Built TimingGraphBuilder::build() const& {
  return TimingGraphBuilder(*this).build();
}

TimingGraphBuilder::Built TimingGraphBuilder::build() && {
  const std::size_t nodes = this->nodes();
  graph_.edge_begin.push_back(static_cast<std::int32_t>(graph_.from.size()));
  merge_late_edges();
  Built built{.graph = std::move(graph_), .cycle = {}};
  sort_topologically(built.graph);
  if (built.graph.order.size() < nodes) {
    built.cycle = find_cycle(built.graph);
  }
  return built;
}

}  // namespace stagewright
