#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/schedule/rank_classes.h"
#include "core/schedule/schedule.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/schedule_geometry.h"
#include "sim/engine/class_phases.h"
#include "sim/engine/phase_pieces.h"
#include "sim/engine/timing_graph.h"

namespace stagewright {

/// What a node of a step's graph is.
struct StepNode {
  enum class Kind : std::uint8_t {
    kPiece,     ///< of the action's phase
    kTransfer,  ///< the message that the action, a receive, takes
    kGate,      ///< nothing is issued from the action, a send, on before the channel is free again
  };
  Kind kind = Kind::kPiece;
  std::uint32_t rank_class = 0;
  std::int32_t action = 0;
  std::int32_t piece = 0;  ///< of kPiece
  friend bool operator==(const StepNode&, const StepNode&) = default;
};

/// Where the work of one action stands in the graph.
struct ActionNodes {
  std::int32_t first_piece = 0;  ///< into ClassWork::piece_nodes, one for each piece of the phase
  std::optional<NodeIndex> transfer;  ///< of sends and receives
  std::optional<NodeIndex> gate;      ///< the last one at or before the action
  friend bool operator==(const ActionNodes&, const ActionNodes&) = default;
};

/// The work of the rank that stands for its class.
struct ClassWork {
  RankId rank;
  std::int32_t ranks = 1;  ///< in the class
  const RankProgram* program = nullptr;
  ClassPhases phases;
  std::vector<ActionNodes> actions;  ///< by action of the program
  std::vector<NodeIndex> piece_nodes;

  [[nodiscard]] const std::vector<Piece>& pieces(std::size_t action) const {
    return phases.of_action(action).pieces;
  }
  /// The nodes of an action's pieces, in order.
  [[nodiscard]] std::span<const NodeIndex> nodes(std::size_t action) const {
    return std::span(piece_nodes)
        .subspan(static_cast<std::size_t>(actions[action].first_piece), pieces(action).size());
  }
};

/// One step of a schedule: for every class of ranks its work, priced, and what waits for what.
struct StepGraph {
  TimingGraph graph;
  std::vector<Duration> durations;  ///< by node
  std::vector<StepNode> nodes;
  std::vector<ClassWork> classes;  ///< by class of ranks
};

struct StepGraphOptions {
  bool buffered_sends = false;  ///< no gates
};

/// Builds the graph by the rules of core/schedule/semantics.h.  It refers to programs of `schedule`
/// and device types of `cluster`, which must outlive it.
/// Fails with kInvalidInput when a message has no other side, with kInfeasible when ranks wait for
/// each other for ever, naming rank and action, and with kUnsupported when their times could not be
/// added up (clock_check.h).
[[nodiscard]] Result<StepGraph> build_step_graph(const Schedule& schedule,
                                                 const Cluster& cluster,
                                                 const ScheduleGeometry& geometry,
                                                 const RankClasses& classes,
                                                 const CostModel& cost,
                                                 const StepGraphOptions& options = {});

/// When everything begins, counted from the start of the step.
struct StepTimes {
  std::vector<Duration> start;  ///< by node
  Duration makespan{};          ///< until the last node is done
  friend bool operator==(const StepTimes&, const StepTimes&) = default;
};
[[nodiscard]] StepTimes time_step(const StepGraph& step);

}  // namespace stagewright
