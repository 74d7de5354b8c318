#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/timing_graph.h"

namespace stagewright {

/// Where a piece of work stands in a SweepGraph, and in the arrays that it is timed with.
using SweepIndex = std::int32_t;
/// Pieces of work of one class have the lag of their second edge in common, and in a pipeline of
/// bare costs their price.
using WorkClass = std::uint16_t;

/// What waits for what, laid out for one pass in memory order: whatever a piece of work waits for
/// stands before it, most often shortly before it, and neighbours rarely wait for each other.  The
/// order does not depend on times, so one graph serves any durations.
/// Index 0 is the origin, the begin of the step, which takes no time.  Every other index has two
/// edges: it starts at max(end[first], end[second] + lag of its class).  What waits for less waits
/// for the origin; what waits for more has a join before it, an index without a duration.
/// Ten bytes an index; durations and ends are another sixteen.
struct SweepGraph {
  std::vector<SweepIndex> first{0};
  std::vector<SweepIndex> second{0};
  std::vector<WorkClass> work{0};

  [[nodiscard]] std::size_t size() const { return first.size(); }
  /// Returns the index of the added piece.  REQUIRES: both edges lead to what is there already.
  SweepIndex add(SweepIndex after, SweepIndex and_after, WorkClass of) {
    first.push_back(after);
    second.push_back(and_after);
    work.push_back(of);
    return static_cast<SweepIndex>(first.size() - 1);
  }
  friend bool operator==(const SweepGraph&, const SweepGraph&) = default;
};

// The pass itself, without any allocation.  `lags` is by class of work, `ends` by index; a start is
// the end less the duration.
// REQUIRES: a lag (and price) for every class, an entry for every index; no negative duration or
// delay, and a duration of zero for the origin.

/// With a duration for every index.
void sweep(const SweepGraph& graph,
           std::span<const Duration> lags,
           std::span<const Duration> durations,
           std::span<Duration> ends);
/// The same, and the second edge of every index takes `delays` longer than its lag.
void sweep(const SweepGraph& graph,
           std::span<const Duration> lags,
           std::span<const Duration> durations,
           std::span<const Duration> delays,
           std::span<Duration> ends);
/// With a duration, `prices`, for every class of work.
void sweep_by_class(const SweepGraph& graph,
                    std::span<const Duration> lags,
                    std::span<const Duration> prices,
                    std::span<Duration> ends);
/// The same, and what waits for an index by its first edge waits `holds` of that index longer.
void sweep_by_class(const SweepGraph& graph,
                    std::span<const Duration> lags,
                    std::span<const Duration> prices,
                    std::span<const Duration> holds,
                    std::span<Duration> ends);

/// A timing graph of any shape as a SweepGraph.
struct CompiledGraph {
  SweepGraph graph;
  std::vector<Duration> lags;         ///< by class of work
  std::vector<SweepIndex> index;      ///< by node
  std::vector<SweepIndex> long_lags;  ///< extra indices: lags that found no class of their own ...
  std::vector<Duration> long_lag_durations;  ///< ... and stand among the durations instead

  /// Durations by node into durations by index: what `sweep` takes.  Indices that belong to no node
  /// are filled in as well and stay what they are when single nodes are priced anew.
  void spread(std::span<const Duration> by_node, std::span<Duration> by_index) const;
};
/// REQUIRES: the graph has no cycle.
[[nodiscard]] CompiledGraph compile(const TimingGraph& graph);

}  // namespace stagewright
