#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"

namespace stagewright {

using NodeIndex = std::int32_t;  ///< into a TimingGraph

/// Why one piece of work waits for another.
enum class EdgeKind : std::uint8_t {
  kStream,  ///< same stream, issued before
  kData,    ///< writes what this one reads, or reads what it overwrites
  kIssue,   ///< the rank had not issued it yet (rule 4 of core/schedule/semantics.h)
};

/// Pieces of work and what each waits for: start >= end(from) + lag.  The order does not depend on
/// times, so one graph serves any durations.  Structure of arrays; the edges of node i are
/// edge_begin[i] .. edge_begin[i + 1] - 1.
struct TimingGraph {
  std::vector<std::int32_t> edge_begin;
  std::vector<NodeIndex> from;
  std::vector<Duration> lag;
  std::vector<EdgeKind> kind;
  std::vector<NodeIndex> order;  ///< all nodes, each after those it waits for

  [[nodiscard]] std::size_t nodes() const { return order.size(); }
};

/// Start of every node: as early as its edges allow, not before zero.
/// REQUIRES: one duration and one start per node.
void time_actions(const TimingGraph& graph,
                  std::span<const Duration> durations,
                  std::span<Duration> starts);

/// Collects nodes and edges in any order.  Edges that lead to the newest node go where they will
/// stay; those to earlier ones cost more.
class TimingGraphBuilder {
 public:
  /// For so many nodes, and edges to the newest: what is not used costs no memory.
  void reserve(std::size_t nodes, std::size_t edges);
  NodeIndex add_node();
  /// An edge may be given more than once.
  void add_edge(NodeIndex from, NodeIndex to, EdgeKind kind, Duration lag = {});
  [[nodiscard]] std::size_t nodes() const { return graph_.edge_begin.size(); }

  struct Built {
    TimingGraph graph;
    /// Nodes of one cycle, each waiting for the one behind it, the last for the first; empty if
    /// there is none.  With a cycle the graph is of no use.
    std::vector<NodeIndex> cycle;
  };
  /// The edges of each node in the order in which they were added.
  [[nodiscard]] Built build() const&;
  [[nodiscard]] Built build() &&;

 private:
  struct Edge {
    NodeIndex from = 0;
    NodeIndex to = 0;
    EdgeKind kind = EdgeKind::kData;
    Duration lag{};
  };

  [[nodiscard]] std::vector<std::int32_t> late_by_node() const;
  void merge_late_edges();

  TimingGraph graph_;       ///< without late edges; edge_begin lacks its last entry
  std::vector<Edge> late_;  ///< to nodes that were not the newest any more
};

}  // namespace stagewright
