#include "sim/engine/sweep_graph.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/base/check.h"

namespace stagewright {
namespace {

constexpr auto kNone = [](std::size_t) { return Duration{}; };

/// `duration_at`, `delay_at` and `hold_at` give the times of an index.
template <class DurationAt, class DelayAt, class HoldAt>
void run(const SweepGraph& graph,
         std::span<const Duration> lags,
         DurationAt duration_at,
         DelayAt delay_at,
         HoldAt hold_at,
         std::span<Duration> ends) {
  SW_CHECK(ends.size() == graph.size(), "an end for every index");
  const SweepIndex* const first = graph.first.data();
  const SweepIndex* const second = graph.second.data();
  const WorkClass* const work = graph.work.data();
  const Duration* const lag = lags.data();
  Duration* const end = ends.data();
  const std::size_t size = graph.size();
  end[0] = Duration{};
  for (std::size_t i = 1; i < size; ++i) {
    const Duration one = end[first[i]] + hold_at(static_cast<std::size_t>(first[i]));
    const Duration other = end[second[i]] + lag[work[i]] + delay_at(i);
    end[i] = std::max(one, other) + duration_at(i);
  }
}

/// Lays a timing graph out, in its order.
class Compiler {
 public:
  explicit Compiler(const TimingGraph& graph) : graph_(graph) {
    compiled_.index.resize(graph.nodes());
    compiled_.graph.first.reserve(graph.nodes() + 1);
    compiled_.graph.second.reserve(graph.nodes() + 1);
    compiled_.graph.work.reserve(graph.nodes() + 1);
    compiled_.lags.emplace_back();
    classes_.emplace(0, WorkClass{0});
  }

  CompiledGraph run() && {
    for (const NodeIndex node : graph_.order) {
      add(static_cast<std::size_t>(node));
    }
    return std::move(compiled_);
  }

 private:
  struct Edge {
    SweepIndex from = 0;
    Duration lag{};
  };

  void add(std::size_t node) {
    edges_.clear();
    for (auto e = static_cast<std::size_t>(graph_.edge_begin[node]);
         e < static_cast<std::size_t>(graph_.edge_begin[node + 1]);
         ++e) {
      edges_.push_back({compiled_.index[static_cast<std::size_t>(graph_.from[e])], graph_.lag[e]});
    }
    // The first edge has no lag: one without goes there, else the origin does.
    const auto plain =
        std::ranges::find_if(edges_, [](const Edge& edge) { return edge.lag == Duration{}; });
    SweepIndex after = 0;
    if (plain != edges_.end()) {
      after = plain->from;
      edges_.erase(plain);
    }
    if (edges_.empty()) {
      compiled_.index[node] = compiled_.graph.add(after, 0, 0);
      return;
    }
    for (const Edge& edge : edges_) {
      after = add_edge(after, edge);
    }
    compiled_.index[node] = after;
  }

  SweepIndex add_edge(SweepIndex after, const Edge& edge) {
    const auto known = classes_.find(edge.lag.count());
    if (known != classes_.end()) {
      return compiled_.graph.add(after, edge.from, known->second);
    }
    if (compiled_.lags.size() <= std::numeric_limits<WorkClass>::max()) {
      const auto made = static_cast<WorkClass>(compiled_.lags.size());
      compiled_.lags.push_back(edge.lag);
      classes_.emplace(edge.lag.count(), made);
      return compiled_.graph.add(after, edge.from, made);
    }
    const SweepIndex lag = compiled_.graph.add(edge.from, 0, 0);
    compiled_.long_lags.push_back(lag);
    compiled_.long_lag_durations.push_back(edge.lag);
    return compiled_.graph.add(after, lag, 0);
  }

  const TimingGraph& graph_;
  CompiledGraph compiled_;
  std::unordered_map<std::int64_t, WorkClass> classes_;
  std::vector<Edge> edges_;
};

}  // namespace

void sweep(const SweepGraph& graph,
           std::span<const Duration> lags,
           std::span<const Duration> durations,
           std::span<Duration> ends) {
  SW_CHECK(durations.size() == graph.size(), "a duration for every index");
  run(
      graph, lags, [durations](std::size_t i) { return durations[i]; }, kNone, kNone, ends);
}

void sweep(const SweepGraph& graph,
           std::span<const Duration> lags,
           std::span<const Duration> durations,
           std::span<const Duration> delays,
           std::span<Duration> ends) {
  SW_CHECK(durations.size() == graph.size() && delays.size() == graph.size(),
           "a duration and a delay for every index");
  run(
      graph,
      lags,
      [durations](std::size_t i) { return durations[i]; },
      [delays](std::size_t i) { return delays[i]; },
      kNone,
      ends);
}

void sweep_by_class(const SweepGraph& graph,
                    std::span<const Duration> lags,
                    std::span<const Duration> prices,
                    std::span<Duration> ends) {
  run(
      graph,
      lags,
      [&graph, prices](std::size_t i) { return prices[graph.work[i]]; },
      kNone,
      kNone,
      ends);
}

void sweep_by_class(const SweepGraph& graph,
                    std::span<const Duration> lags,
                    std::span<const Duration> prices,
                    std::span<const Duration> holds,
                    std::span<Duration> ends) {
  SW_CHECK(holds.size() == graph.size(), "a hold for every index");
  run(
      graph,
      lags,
      [&graph, prices](std::size_t i) { return prices[graph.work[i]]; },
      kNone,
      [holds](std::size_t i) { return holds[i]; },
      ends);
}

CompiledGraph compile(const TimingGraph& graph) {
  return Compiler(graph).run();
}

void CompiledGraph::spread(std::span<const Duration> by_node, std::span<Duration> by_index) const {
  SW_CHECK(by_node.size() == index.size() && by_index.size() == graph.size(),
           "a duration for every node and index");
  std::ranges::fill(by_index, Duration{});
  for (std::size_t i = 0; i < long_lags.size(); ++i) {
    by_index[static_cast<std::size_t>(long_lags[i])] = long_lag_durations[i];
  }
  for (std::size_t node = 0; node < index.size(); ++node) {
    by_index[static_cast<std::size_t>(index[node])] = by_node[node];
  }
}

}  // namespace stagewright
