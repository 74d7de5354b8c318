#include "sim/analysis/step_work.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/base/check.h"

namespace stagewright {

std::string_view name_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::kForward:
      return "forward";
    case WorkKind::kBackward:
      return "backward";
    case WorkKind::kBackwardInput:
      return "backward-input";
    case WorkKind::kBackwardWeight:
      return "backward-weight";
    case WorkKind::kRecompute:
      return "recompute";
    case WorkKind::kOverlapped:
      return "overlapped";
    case WorkKind::kTransfer:
      return "transfer";
    case WorkKind::kCollective:
      return "collective";
    case WorkKind::kOptimizer:
      return "optimizer";
    case WorkKind::kIssue:
      return "issue";
  }
  SW_CHECK(false, "a kind of work that is listed");
}

bool is_stage_work(WorkKind kind) {
  return kind <= WorkKind::kOverlapped;
}

std::vector<std::size_t> StepWork::actions() const {
  std::vector<std::size_t> nodes(pieces.size());
  std::iota(nodes.begin(), nodes.end(), std::size_t{0});
  const auto key = [this](std::size_t node) {
    return std::pair(pieces[node].rank, pieces[node].action);
  };
  std::ranges::sort(nodes, {}, key);
  std::vector<std::size_t> numbers(pieces.size());
  std::size_t number = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0 && key(nodes[i]) != key(nodes[i - 1])) {
      ++number;
    }
    numbers[nodes[i]] = number;
  }
  return numbers;
}

std::vector<Duration> StepWork::starts() const {
  std::vector<Duration> starts(graph.nodes());
  for (const NodeIndex node : graph.order) {
    const auto i = static_cast<std::size_t>(node);
    Duration start{};
    for (auto e = static_cast<std::size_t>(graph.edge_begin[i]);
         e < static_cast<std::size_t>(graph.edge_begin[i + 1]);
         ++e) {
      const auto from = static_cast<std::size_t>(graph.from[e]);
      start = std::max(start, starts[from] + durations[from] + graph.lag[e]);
    }
    starts[i] = start + delays[i];
  }
  return starts;
}

Duration StepWork::makespan(std::span<const Duration> starts) const {
  Duration last{};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    last = std::max(last, starts[i] + durations[i]);
  }
  return last + tail;
}

}  // namespace stagewright
