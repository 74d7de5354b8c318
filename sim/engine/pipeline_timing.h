#pragma once

#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/schedule/pipeline_order.h"
#include "sim/engine/pipeline_graph.h"

namespace stagewright {

/// A pipeline order ready to be timed many times.
class PipelineTimer {
 public:
  /// Fails as compile(order) does.
  [[nodiscard]] static Result<PipelineTimer> make(const PipelineOrder& order);

  struct Timing {
    Duration makespan{};                       ///< from zero to the last end
    std::vector<Duration> busy;                ///< per rank
    std::vector<std::vector<Duration>> start;  ///< [rank][action of its list]
    std::vector<std::vector<Duration>> end;    ///< an overlapped pair has one start and end
    /// 1 - busy / makespan, mean over the ranks.
    [[nodiscard]] double bubble() const;
  };
  /// REQUIRES: a cost for every stage and kind of action in the order.
  [[nodiscard]] Timing time(const PipelineCosts& costs) const;
  /// The makespan alone, without any allocation after the first call with the same `scratch`.
  struct Scratch {
    std::vector<Duration> prices;
    std::vector<Duration> lags;
    std::vector<Duration> ends;  ///< by index of graph().graph
  };
  [[nodiscard]] Duration makespan(const PipelineCosts& costs, Scratch& scratch) const;

  /// To time actions by costs of their own.
  [[nodiscard]] const PipelineGraph& graph() const { return graph_; }

 private:
  explicit PipelineTimer(PipelineGraph graph) : graph_(std::move(graph)) {}

  PipelineGraph graph_;
};

}  // namespace stagewright
