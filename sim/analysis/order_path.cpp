#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/check.h"
#include "sim/analysis/order_explanation.h"
#include "sim/analysis/order_work.h"

namespace stagewright {
namespace {

class OrderPath {
 public:
  OrderPath(const PipelineGraph& graph, const PipelineCosts& costs)
      : graph_(graph), ends_(graph.graph.size()) {
    price(graph, costs, prices_);
    price_lags(graph, costs, lags_);
    sweep_by_class(graph.graph, lags_, prices_, ends_);
  }

  [[nodiscard]] PathSums run() && {
    sums_.length = graph_.makespan(ends_);
    std::optional<std::size_t> index = last();
    while (index) {
      index = back_from(*index);
    }
    return sums_;
  }

 private:
  [[nodiscard]] const PipelineWork& work_at(std::size_t index) const {
    return graph_.works[graph_.graph.work[index]];
  }

  [[nodiscard]] std::optional<std::size_t> last() const {
    std::optional<std::size_t> latest;
    for (std::size_t rank = 0; rank < graph_.ranks(); ++rank) {
      if (const auto indices = graph_.of_rank(rank); !indices.empty()) {
        const auto index = static_cast<std::size_t>(indices.back());
        latest = !latest || ends_[index] > ends_[*latest] ? index : latest;
      }
    }
    return latest;
  }

  /// Adds an action to the sums; what its start followed from, if that was not the begin.
  [[nodiscard]] std::optional<std::size_t> back_from(std::size_t index) {
    const PipelineWork& work = work_at(index);
    const Duration length = prices_[graph_.graph.work[index]];
    sums_.by_kind[static_cast<std::size_t>(kind_of(work))] += length;
    if (length > Duration{}) {
      sums_.by_stage[work.part->stage] += length;
    }
    const Duration start = ends_[index] - length;
    return start > Duration{} ? binding(index, start) : std::nullopt;
  }

  /// The rank's own action before it, or else what arrived: over the action's second edge and those
  /// of the joins in front of it.
  [[nodiscard]] std::optional<std::size_t> binding(std::size_t index, Duration start) {
    std::size_t own = index;
    do {
      own = static_cast<std::size_t>(graph_.graph.first[own]);
    } while (own != 0 && !work_at(own).part && !work_at(own).late);
    const bool is_begin = own == 0 || work_at(own).late.has_value();
    if (!is_begin && ends_[own] == start) {
      return own;
    }
    for (std::size_t at = index; at != own; at = static_cast<std::size_t>(graph_.graph.first[at])) {
      const auto from = static_cast<std::size_t>(graph_.graph.second[at]);
      const Duration lag = work_at(at).border ? lags_[graph_.graph.work[at]] : Duration{};
      if (from != 0 && ends_[from] + lag == start) {
        sums_.by_kind[static_cast<std::size_t>(WorkKind::kTransfer)] += lag;
        return from;
      }
    }
    SW_CHECK(is_begin && ends_[own] == start, "a start that follows from something");
    sums_.late += start;
    return std::nullopt;
  }

  const PipelineGraph& graph_;
  std::vector<Duration> prices_;  ///< by class of work
  std::vector<Duration> lags_;    ///< likewise
  std::vector<Duration> ends_;    ///< by index
  PathSums sums_;
};

}  // namespace

PathSums critical_path(const PipelineGraph& graph, const PipelineCosts& costs) {
  return OrderPath(graph, costs).run();
}

}  // namespace stagewright
