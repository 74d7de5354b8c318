#pragma once

#include <cstdint>
#include <optional>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/schedule/schedule.h"
#include "core/trace/trace.h"
#include "sim/analysis/bubble_causes.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/summary.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

enum class TraceDetail : std::uint8_t {
  kNone,        ///< an empty trace: fastest
  kActions,     ///< an event per action, the waits in optimizer steps, memory per action
  kOperations,  ///< and one per operation
};

struct SimulationOptions {
  /// Switches off the rule that a rank has at most one unfinished send per channel (rule 4 of
  /// core/schedule/semantics.h): sends never hold up what is issued after them.
  bool buffered_sends = false;
  /// Ranks that provably take the same times are simulated once.
  bool representatives = true;
  TraceDetail trace = TraceDetail::kActions;
  /// The trace holds every rank, not only the first of those alike.
  bool trace_all_ranks = false;
  /// The trace names the schedule by its hash, which takes as long to find as all the times.
  bool sign_trace = true;
  /// Find out why ranks are idle, and the critical path.
  bool explain = false;
  /// Of one step over all ranks, for the MFU (core/model: model_flops).
  std::optional<Flops> model_flops{};
};

struct Simulation {
  Summary summary;
  Trace trace;
  std::optional<BubbleCauses> bubbles{};  ///< with `explain`, as the path: ranks as in the summary
  std::optional<CriticalPath> critical_path{};
};

/// Times one optimizer step by the rules of core/schedule/semantics.h in a single pass over the
/// actions, in integer picoseconds; the same input gives the same output everywhere.  An action's
/// operations keep their distances, except where they wait for another rank.
/// REQUIRES: validate(schedule) succeeded.  Fails with kInvalidInput when the schedule names a
/// device that the cluster does not have, and with kInfeasible when ranks wait for each other for
/// ever, naming the actions.
[[nodiscard]] Result<Simulation> simulate(const Schedule& schedule,
                                          const Cluster& cluster,
                                          const CostModel& cost,
                                          const SimulationOptions& options = {});

}  // namespace stagewright
