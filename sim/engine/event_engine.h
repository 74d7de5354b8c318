#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/event_graph.h"

namespace stagewright {

struct EventOptions {
  /// Times that computation takes while its device sends or receives, at least 1: kernels of
  /// communication take compute units and memory bandwidth.  1, no effect, unless given: it depends
  /// on device and library; StepConstant::kOverlapSlowdown is what published step times say.
  double compute_slowdown = 1;
};

/// Whether the times of any node may depend on what else goes on.
[[nodiscard]] bool may_contend(const EventGraph& graph, const EventOptions& options = {});

/// When every node of a graph begins and ends, counted from the start of the step.
struct EventTimes {
  std::vector<Duration> start;
  std::vector<Duration> end;
  Duration makespan{};
  std::vector<double> lost_seconds;  ///< by link: flow time lost because it was full
  friend bool operator==(const EventTimes&, const EventTimes&) = default;
};

/// Simulates steps event by event: flows share links (SharedFlows), ranks share devices and
/// communication slows computation (SharedDevices).  Where none of this happens, every node starts
/// when the last of what it waits for ends and takes its time alone, to the picosecond.  Same
/// input, same output on every machine.
///
/// Nodes whose time nobody can change (computation on a device of its rank alone, messages over
/// links that never fill) are followed at once, ahead of the clock; only the others go through the
/// queue.  That is sound because whatever they lead to lies later than they do.
class EventEngine {
 public:
  /// The graph must outlive the engine.
  explicit EventEngine(const EventGraph& graph, const EventOptions& options = {});
  EventEngine(const EventEngine&) = delete;
  EventEngine& operator=(const EventEngine&) = delete;
  ~EventEngine();

  /// One step with these times alone (EventGraph::alone, or as perturbed).  No allocation after the
  /// first.  The result is valid until the next run.  REQUIRES: a time for every node.
  const EventTimes& run(std::span<const Duration> alone);
  /// The makespan of such a step alone.
  [[nodiscard]] Duration makespan(std::span<const Duration> alone);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace stagewright
