#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/schedule/pipeline_order.h"
#include "sim/engine/timing_graph.h"

namespace stagewright {

/// Bare costs of a pipeline, by stage.  A vector that the order has no action for may be empty.
struct PipelineCosts {
  std::vector<Duration> forward{};
  std::vector<Duration> backward{};  ///< both halves
  std::vector<Duration> backward_input{};
  std::vector<Duration> backward_weight{};
  std::vector<Duration> recompute{};
  /// Of an activation from stage s to s + 1, or a gradient back, where they lie on different
  /// ranks: links are free, so nothing waits for another message.  Empty: none.
  std::vector<Duration> transfer{};
  friend bool operator==(const PipelineCosts&, const PipelineCosts&) = default;
};

/// A pipeline order ready to be timed many times.
class PipelineTimer {
 public:
  /// Fails with kInvalidInput or kInfeasible, naming rank and action, when an action needs one
  /// that is nowhere in the order, stands twice, or when the ranks wait for each other for ever.
  [[nodiscard]] static Result<PipelineTimer> make(const PipelineOrder& order);

  struct Timing {
    Duration makespan{};                       ///< from the first start to the last end
    std::vector<Duration> busy;                ///< per rank
    std::vector<std::vector<Duration>> start;  ///< [rank][action of its list]
    std::vector<std::vector<Duration>> end;
    /// 1 - busy / makespan, mean over the ranks.
    [[nodiscard]] double bubble() const;
  };
  /// REQUIRES: a cost for every stage and kind of action in the order.
  [[nodiscard]] Timing time(const PipelineCosts& costs) const;
  /// The makespan alone, without any allocation after the first call with the same `scratch`.
  struct Scratch {
    std::vector<Duration> durations;
    std::vector<Duration> starts;
  };
  [[nodiscard]] Duration makespan(const PipelineCosts& costs, Scratch& scratch) const;

 private:
  struct Step {
    ActionKind kind = ActionKind::kForward;
    StageId stage;
  };
  class Maker;
  PipelineTimer() = default;
  void fill(const PipelineCosts& costs, Scratch& scratch) const;

  TimingGraph graph_;
  std::vector<Step> steps_;               ///< by node; transfers after the actions
  std::vector<std::int32_t> rank_begin_;  ///< first node of each rank's list, and the end
};

}  // namespace stagewright
