#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/schedule/pipeline_order.h"
#include "sim/engine/sweep_graph.h"

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
  /// By rank: it begins so long after the others.  Empty: none does.
  std::vector<Duration> late{};
  double overlap = 1;  ///< of the sum of its parts that an overlapped pair takes
  friend bool operator==(const PipelineCosts&, const PipelineCosts&) = default;
};

/// What an action of that kind takes on a stage.  REQUIRES: a kind that computes, and a cost for
/// it.
[[nodiscard]] Duration cost_of(const PipelineCosts& costs, ActionKind kind, StageId stage);

/// What the pieces of one class of a PipelineGraph do, and so what they cost.
struct PipelineWork {
  struct Part {
    ActionKind kind = ActionKind::kForward;
    StageId stage;
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::optional<Part> part;          ///< absent: a join, which takes no time
  std::optional<Part> beside;        ///< the other half of an overlapped pair
  std::optional<StageId> border;     ///< its second edge is a transfer behind this stage
  std::optional<std::int32_t> late;  ///< its second edge is the begin of this rank
  friend bool operator==(const PipelineWork&, const PipelineWork&) = default;
};

/// A pipeline order compiled for the static pass: make it once, time it as often as you like.
/// Transfers are lags of edges, so that an index is an action, an overlapped pair, or a join.
struct PipelineGraph {
  SweepGraph graph;
  std::vector<PipelineWork> works;       ///< by class of work
  std::vector<SweepIndex> index;         ///< by action, rank after rank; a pair has one
  std::vector<std::int32_t> rank_begin;  ///< first action of each rank in `index`, and the end

  [[nodiscard]] std::size_t ranks() const { return rank_begin.size() - 1; }
  /// Where the actions of a rank's list stand.
  [[nodiscard]] std::span<const SweepIndex> of_rank(std::size_t rank) const {
    return std::span(index).subspan(
        static_cast<std::size_t>(rank_begin[rank]),
        static_cast<std::size_t>(rank_begin[rank + 1] - rank_begin[rank]));
  }
  /// From zero to the last end.
  [[nodiscard]] Duration makespan(std::span<const Duration> ends) const;
};

/// Fails with kInvalidInput or kInfeasible, naming rank and action, when an action needs one that
/// is nowhere in the order, stands twice, or when the ranks wait for each other for ever.
[[nodiscard]] Result<PipelineGraph> compile(const PipelineOrder& order);

// Costs by class of work: what sweep_by_class takes.  To give single actions a duration of their
// own, spread the prices over `sweep`'s durations and change those at PipelineGraph::index.
// REQUIRES: a cost for every stage and kind of action in the order.

void price(const PipelineGraph& graph, const PipelineCosts& costs, std::vector<Duration>& prices);
void price_lags(const PipelineGraph& graph,
                const PipelineCosts& costs,
                std::vector<Duration>& lags);
[[nodiscard]] std::vector<Duration> spread(const PipelineGraph& graph,
                                           std::span<const Duration> prices);

}  // namespace stagewright
