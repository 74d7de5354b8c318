#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "sim/engine/timing_graph.h"

namespace stagewright {

/// What a piece of a step's work is, for those who ask where the time went.
enum class WorkKind : std::uint8_t {
  kForward,
  kBackward,
  kBackwardInput,
  kBackwardWeight,
  kRecompute,
  kOverlapped,  ///< a forward and a backward at once
  kTransfer,    ///< a message between stages
  kCollective,  ///< reduction or gather, and what is computed for it alone
  kOptimizer,   ///< the optimizer step with its norm
  kIssue,       ///< holds back what is issued after it; takes no time
};
inline constexpr int kWorkKindCount = static_cast<int>(WorkKind::kIssue) + 1;
[[nodiscard]] std::string_view name_of(WorkKind kind);
[[nodiscard]] bool is_stage_work(WorkKind kind);  ///< kForward .. kOverlapped

struct WorkPiece {
  WorkKind kind = WorkKind::kForward;
  std::int32_t rank = 0;    ///< into StepWork::ranks; of a message who receives it
  std::int32_t action = 0;  ///< in the rank's list
  StageId stage;
  MicroBatchId micro_batch;
  Duration busy{};  ///< of its duration, in which it keeps its rank from other work
  friend bool operator==(const WorkPiece&, const WorkPiece&) = default;
};

struct WorkRank {
  RankId rank;             ///< the first of those alike
  std::int32_t alike = 1;  ///< how many
  Duration busy{};         ///< as the summary of the step counts it
  friend bool operator==(const WorkRank&, const WorkRank&) = default;
};

/// Everything that was done in a step and what it waited for, whoever timed it: a plan's
/// simulation, a bare order with costs, or a trace.  A node starts `delay` after the latest of
/// end + lag over its edges.
struct StepWork {
  TimingGraph graph;
  std::vector<Duration> durations;  ///< by node
  /// By node: how much later it started than its edges allow.  A bare order has them where a rank
  /// is late, a trace wherever nothing that it knows explains the time.
  std::vector<Duration> delays;
  std::vector<WorkPiece> pieces;  ///< by node
  std::vector<WorkRank> ranks;
  Duration tail{};  ///< communication that goes on when the last node is done

  /// By node: number of the action that it is of, counted over all ranks in list order.
  [[nodiscard]] std::vector<std::size_t> actions() const;
  /// Starts of all nodes.
  [[nodiscard]] std::vector<Duration> starts() const;
  /// From zero until everything is done.
  [[nodiscard]] Duration makespan(std::span<const Duration> starts) const;
};

}  // namespace stagewright
