#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "sim/analysis/idle_split.h"
#include "sim/analysis/order_explanation.h"
#include "sim/analysis/order_work.h"

namespace stagewright {
namespace {

/// Makespan and idle time by rank of one pass.
struct Idle {
  Duration makespan{};
  std::vector<Duration> of_rank;
};

class OrderCauses {
 public:
  OrderCauses(const PipelineGraph& graph, const PipelineCosts& costs)
      : graph_(graph), ends_(graph.graph.size()) {
    price(graph, costs, prices_);
    price_lags(graph, costs, lags_);
    count();
  }

  [[nodiscard]] BubbleCauses run() {
    std::vector<RankIdle> ranks(graph_.ranks());
    const Idle equal = run_equal(ranks);
    const Idle stages = run_stages([](const PipelineWork&) { return false; });
    const Idle transfers = run_stages([](const PipelineWork& work) { return !work.late; });
    const Idle all = run_stages([](const PipelineWork&) { return true; });
    BubbleCauses causes{.step_time = all.makespan, .ranks = {}};
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ranks[r].rank = RankId(r);
      // A bare order has neither collectives nor an optimizer step.
      ranks[r].idle = {equal.of_rank[r],
                       stages.of_rank[r],
                       transfers.of_rank[r],
                       transfers.of_rank[r],
                       transfers.of_rank[r],
                       all.of_rank[r]};
      causes.ranks.push_back(divide_idle(ranks[r]));
    }
    return causes;
  }

 private:
  /// Of each action, a pair counting once: f(class of work, index).
  template <typename F>
  void for_each_of(std::size_t rank, F&& f) const {
    SweepIndex before = 0;
    for (const SweepIndex index : graph_.of_rank(rank)) {
      if (index != before) {
        f(graph_.graph.work[static_cast<std::size_t>(index)], static_cast<std::size_t>(index));
      }
      before = index;
    }
  }

  /// Means of each kind, and by what each rank's are scaled so that all compute equally long.
  void count() {
    for (const PipelineWork& work : graph_.works) {
      kinds_.push_back(work.part ? std::optional(kind_of(work)) : std::nullopt);
    }
    std::array<double, kWorkKindCount> sums{};
    std::array<double, kWorkKindCount> counts{};
    std::vector<std::array<double, kWorkKindCount>> of_rank(graph_.ranks());
    for (std::size_t rank = 0; rank < graph_.ranks(); ++rank) {
      for_each_of(rank, [&](WorkClass work, std::size_t) {
        const auto kind = static_cast<std::size_t>(*kinds_[work]);
        sums[kind] += static_cast<double>(prices_[work].count());
        counts[kind] += 1;
        of_rank[rank][kind] += 1;
        busy_[rank] += prices_[work];
      });
    }
    for (std::size_t kind = 0; kind < sums.size(); ++kind) {
      means_[kind] = counts[kind] > 0 ? sums[kind] / counts[kind] : 0;
    }
    double all = 0;
    for (const auto& counted : of_rank) {
      double total = 0;
      for (std::size_t kind = 0; kind < means_.size(); ++kind) {
        total += counted[kind] * means_[kind];
      }
      scales_.push_back(total);
      all += total;
    }
    const double mean = scales_.empty() ? 0 : all / static_cast<double>(scales_.size());
    for (double& scale : scales_) {
      scale = scale > 0 ? mean / scale : 1;
    }
  }

  /// What an action of that class takes on a rank when all stages take the same.
  [[nodiscard]] Duration equal_price(WorkClass work, std::size_t rank) const {
    const double mean = means_[static_cast<std::size_t>(*kinds_[work])] * scales_[rank];
    return Duration(std::llround(mean));
  }

  [[nodiscard]] Idle run_equal(std::vector<RankIdle>& ranks) {
    std::vector<Duration> durations(graph_.graph.size());
    std::vector<Duration> busy(graph_.ranks());
    for (std::size_t rank = 0; rank < graph_.ranks(); ++rank) {
      for_each_of(rank, [&](WorkClass work, std::size_t index) {
        durations[index] = equal_price(work, rank);
        busy[rank] += durations[index];
      });
    }
    const std::vector<Duration> no_lags(lags_.size());
    sweep(graph_.graph, no_lags, durations, ends_);
    Idle idle{.makespan = graph_.makespan(ends_), .of_rank = {}};
    for (std::size_t rank = 0; rank < graph_.ranks(); ++rank) {
      ranks[rank].equal = phases_of(rank, durations, idle.makespan);
      idle.of_rank.push_back(idle.makespan - busy[rank]);
    }
    return idle;
  }

  [[nodiscard]] IdlePhases phases_of(std::size_t rank,
                                     const std::vector<Duration>& durations,
                                     Duration makespan) const {
    std::optional<Duration> first;
    std::optional<Duration> first_backward;
    std::optional<Duration> last_forward;
    for_each_of(rank, [&](WorkClass work, std::size_t index) {
      const Duration begin = ends_[index] - durations[index];
      const WorkKind kind = *kinds_[work];
      const bool both = kind == WorkKind::kOverlapped;
      first = first.value_or(begin);
      if (both || kind == WorkKind::kBackward || kind == WorkKind::kBackwardInput) {
        first_backward = first_backward.value_or(begin);
      }
      if (both || kind == WorkKind::kForward) {
        last_forward = ends_[index];
      }
    });
    IdlePhaseCounter counter(first_backward ? first_backward : first, last_forward);
    for_each_of(rank, [&](WorkClass, std::size_t index) {
      counter.add_work(ends_[index] - durations[index], ends_[index]);
    });
    return counter.finish(makespan);
  }

  /// With the stages' own times, and the lags of the classes that `counts`.
  template <typename F>
  [[nodiscard]] Idle run_stages(F&& counts) {
    std::vector<Duration> lags;
    for (std::size_t work = 0; work < lags_.size(); ++work) {
      lags.push_back(counts(graph_.works[work]) ? lags_[work] : Duration{});
    }
    sweep_by_class(graph_.graph, lags, prices_, ends_);
    Idle idle{.makespan = graph_.makespan(ends_), .of_rank = {}};
    for (const Duration busy : busy_) {
      idle.of_rank.push_back(idle.makespan - busy);
    }
    return idle;
  }

  const PipelineGraph& graph_;
  std::vector<Duration> prices_;                ///< by class of work
  std::vector<Duration> lags_;                  ///< likewise
  std::vector<std::optional<WorkKind>> kinds_;  ///< likewise; none of joins
  std::array<double, kWorkKindCount> means_{};
  std::vector<double> scales_;  ///< by rank
  std::vector<Duration> busy_ = std::vector<Duration>(graph_.ranks());
  std::vector<Duration> ends_;  ///< by index
};

}  // namespace

BubbleCauses bubble_causes(const PipelineGraph& graph, const PipelineCosts& costs) {
  return OrderCauses(graph, costs).run();
}

}  // namespace stagewright
