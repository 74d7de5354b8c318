#include "sim/analysis/bubble_causes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "sim/analysis/idle_split.h"

namespace stagewright {
namespace {

Duration scaled(Duration time, double factor) {
  return factor == 1 ? time : Duration(std::llround(static_cast<double>(time.count()) * factor));
}

/// What an action of a stage takes: its own time, and the two means that stand for it.
class ActionMeans {
 public:
  explicit ActionMeans(const StepWork& work) : work_(work), action_of_(work.actions()) {
    std::vector<bool> seen(work.pieces.size());
    times_.resize(work.pieces.size());
    std::vector<std::size_t> first_pieces;
    for (std::size_t i = 0; i < work.pieces.size(); ++i) {
      if (is_stage_work(work.pieces[i].kind)) {
        const std::size_t action = action_of_[i];
        if (!seen[action]) {
          seen[action] = true;
          first_pieces.push_back(i);
        }
        times_[action] += work.durations[i];
      }
    }
    for (const std::size_t node : first_pieces) {
      const WorkPiece& piece = work.pieces[node];
      const auto time = static_cast<double>(times_[action_of_[node]].count());
      of_stage_[key_of(piece)].add(time, 1);
      of_kind_[piece.kind].add(time, work.ranks[static_cast<std::size_t>(piece.rank)].alike);
    }
    scale_ranks();
  }

  /// By what a node of stage work is to be multiplied; nothing where its action takes no time.
  [[nodiscard]] std::optional<double> factor(std::size_t node, Extent extent) const {
    const Duration own = times_[action_of_[node]];
    if (extent == Extent::kAll) {
      return 1;
    }
    return own == Duration{}
               ? std::nullopt
               : std::optional(mean(work_.pieces[node], extent) / static_cast<double>(own.count()));
  }
  /// Of the whole action, in picoseconds.
  [[nodiscard]] double mean(const WorkPiece& piece, Extent extent) const {
    if (extent == Extent::kEqual) {
      return of_kind_.at(piece.kind).value() * rank_scale_[static_cast<std::size_t>(piece.rank)];
    }
    return of_stage_.at(key_of(piece)).value();
  }

 private:
  struct Mean {
    double sum = 0;
    double count = 0;
    void add(double value, double weight) {
      sum += value * weight;
      count += weight;
    }
    [[nodiscard]] double value() const { return count > 0 ? sum / count : 0; }
  };
  using StageKey = std::tuple<std::int32_t, StageId, WorkKind>;
  [[nodiscard]] static StageKey key_of(const WorkPiece& piece) {
    return {piece.rank, piece.stage, piece.kind};
  }

  /// Ranks have unlike numbers of actions where stages are placed or recomputed unevenly.
  void scale_ranks() {
    std::vector<double> totals(work_.ranks.size());
    for (const auto& [key, mean] : of_stage_) {
      totals[static_cast<std::size_t>(std::get<std::int32_t>(key))] +=
          mean.count * of_kind_.at(std::get<WorkKind>(key)).value();
    }
    Mean all;
    for (std::size_t rank = 0; rank < totals.size(); ++rank) {
      all.add(totals[rank], work_.ranks[rank].alike);
    }
    for (const double total : totals) {
      rank_scale_.push_back(total > 0 ? all.value() / total : 1);
    }
  }

  const StepWork& work_;
  std::vector<std::size_t> action_of_;  ///< by node
  std::vector<Duration> times_;         ///< by action
  std::map<StageKey, Mean> of_stage_;
  std::map<WorkKind, Mean> of_kind_;
  std::vector<double> rank_scale_;
};

/// The step under one extent.
struct Replay {
  std::vector<Duration> durations;  ///< by node
  std::vector<Duration> busy;       ///< by node
  std::vector<Duration> starts;
  Duration makespan{};
  std::vector<Duration> idle;  ///< by rank
};

class Replayer {
 public:
  explicit Replayer(const StepWork& work) : work_(work), means_(work) {}

  [[nodiscard]] Replay run(Extent extent) const {
    StepWork step = work_;
    std::vector<double> factors(work_.pieces.size());
    Replay replay;
    for (std::size_t i = 0; i < work_.pieces.size(); ++i) {
      const WorkPiece& piece = work_.pieces[i];
      const std::optional<double> factor = factor_of(i, extent);
      factors[i] = factor.value_or(0);
      // An action that takes no time of its own has one piece.
      step.durations[i] = factor ? scaled(work_.durations[i], *factor)
                                 : scaled(Duration(1), means_.mean(piece, extent));
      replay.busy.push_back(factor ? scaled(piece.busy, *factor) : step.durations[i]);
    }
    for (std::size_t e = 0; e < step.graph.lag.size(); ++e) {
      step.graph.lag[e] =
          scaled(work_.graph.lag[e], factors[static_cast<std::size_t>(work_.graph.from[e])]);
    }
    if (extent != Extent::kAll) {
      std::ranges::fill(step.delays, Duration{});
    }
    if (extent < Extent::kCollectives) {
      step.tail = {};
    }
    replay.starts = step.starts();
    replay.makespan = step.makespan(replay.starts);
    replay.durations = std::move(step.durations);
    replay.idle.assign(work_.ranks.size(), replay.makespan);
    for (std::size_t i = 0; i < work_.pieces.size(); ++i) {
      replay.idle[static_cast<std::size_t>(work_.pieces[i].rank)] -= replay.busy[i];
    }
    return replay;
  }

 private:
  [[nodiscard]] std::optional<double> factor_of(std::size_t node, Extent extent) const {
    switch (work_.pieces[node].kind) {
      case WorkKind::kForward:
      case WorkKind::kBackward:
      case WorkKind::kBackwardInput:
      case WorkKind::kBackwardWeight:
      case WorkKind::kRecompute:
      case WorkKind::kOverlapped:
        return means_.factor(node, extent);
      case WorkKind::kTransfer:
        return extent >= Extent::kTransfers ? 1 : 0;
      case WorkKind::kCollective:
        return extent >= Extent::kCollectives ? 1 : 0;
      case WorkKind::kOptimizer:
        return extent >= Extent::kOptimizer ? 1 : 0;
      case WorkKind::kIssue:
        return 1;
    }
    SW_CHECK(false, "a kind of work that is listed");
  }

  const StepWork& work_;
  ActionMeans means_;
};

/// Divides the gaps of one rank.  `nodes`: stage work of the rank.
IdlePhases phases_of(const StepWork& work, const Replay& equal, std::vector<std::size_t> nodes) {
  const auto end_of = [&](std::size_t node) { return equal.starts[node] + equal.durations[node]; };
  const auto begin_of = [&](std::size_t node) { return end_of(node) - equal.busy[node]; };
  std::ranges::sort(nodes, {}, begin_of);
  std::optional<Duration> filled;
  std::optional<Duration> last_forward;
  // The first backward may begin with a recomputation before it waits for its gradient.
  std::optional<std::int32_t> first_backward;  // action
  for (const std::size_t node : nodes) {
    const WorkKind kind = work.pieces[node].kind;
    const bool both = kind == WorkKind::kOverlapped;
    if (both || kind == WorkKind::kBackward || kind == WorkKind::kBackwardInput) {
      first_backward = first_backward.value_or(work.pieces[node].action);
      if (work.pieces[node].action == *first_backward) {
        filled = begin_of(node);
      }
    }
    if (both || kind == WorkKind::kForward) {
      last_forward = end_of(node);
    }
  }
  if (!filled && !nodes.empty()) {
    filled = begin_of(nodes.front());
  }
  IdlePhaseCounter counter(filled, last_forward);
  for (const std::size_t node : nodes) {
    counter.add_work(begin_of(node), end_of(node));
  }
  return counter.finish(equal.makespan);
}

std::vector<IdlePhases> phases_of(const StepWork& work, const Replay& equal) {
  std::vector<std::vector<std::size_t>> of_rank(work.ranks.size());
  for (std::size_t i = 0; i < work.pieces.size(); ++i) {
    if (is_stage_work(work.pieces[i].kind)) {
      of_rank[static_cast<std::size_t>(work.pieces[i].rank)].push_back(i);
    }
  }
  std::vector<IdlePhases> phases;
  phases.reserve(of_rank.size());
  for (std::vector<std::size_t>& nodes : of_rank) {
    phases.push_back(phases_of(work, equal, std::move(nodes)));
  }
  return phases;
}

}  // namespace

std::string_view name_of(BubbleCause cause) {
  switch (cause) {
    case BubbleCause::kWarmUp:
      return "warm-up";
    case BubbleCause::kCoolDown:
      return "cool-down";
    case BubbleCause::kOrder:
      return "order";
    case BubbleCause::kImbalance:
      return "imbalance";
    case BubbleCause::kTransfer:
      return "transfer";
    case BubbleCause::kCollective:
      return "collective";
    case BubbleCause::kOptimizer:
      return "optimizer";
    case BubbleCause::kPeer:
      return "peer";
  }
  SW_CHECK(false, "a cause that is listed");
}

BubbleCauses bubble_causes(const StepWork& work) {
  const Replayer replayer(work);
  std::vector<Replay> replays;
  for (std::size_t extent = 0; extent < kExtents; ++extent) {
    replays.push_back(replayer.run(static_cast<Extent>(extent)));
  }
  const std::vector<IdlePhases> phases = phases_of(work, replays.front());
  BubbleCauses causes{.step_time = replays.back().makespan, .ranks = {}};
  for (std::size_t r = 0; r < work.ranks.size(); ++r) {
    RankIdle rank{
        .rank = work.ranks[r].rank, .alike = work.ranks[r].alike, .idle = {}, .equal = phases[r]};
    rank.idle.back() = causes.step_time - work.ranks[r].busy;
    // Waits for collectives that count as busy do so in all replays that have collectives.
    const Duration counted_busy = replays.back().idle[r] - rank.idle.back();
    for (std::size_t extent = 0; extent + 1 < kExtents; ++extent) {
      const bool collectives = static_cast<Extent>(extent) >= Extent::kCollectives;
      rank.idle[extent] = replays[extent].idle[r] - (collectives ? counted_busy : Duration{});
    }
    causes.ranks.push_back(divide_idle(rank));
  }
  return causes;
}

double BubbleCauses::share(BubbleCause cause) const {
  double idle = 0;
  double all = 0;
  for (const RankBubble& rank : ranks) {
    idle += to_seconds(rank.by_cause[static_cast<std::size_t>(cause)]) * rank.alike;
    all += to_seconds(step_time) * rank.alike;
  }
  return all > 0 ? idle / all : 0;
}

double BubbleCauses::share() const {
  double sum = 0;
  for (int cause = 0; cause < kBubbleCauseCount; ++cause) {
    sum += share(static_cast<BubbleCause>(cause));
  }
  return sum;
}

}  // namespace stagewright
