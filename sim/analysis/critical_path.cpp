#include "sim/analysis/critical_path.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace stagewright {
namespace {

class PathWalk {
 public:
  explicit PathWalk(const StepWork& work) : work_(work), starts_(work.starts()) {}

  CriticalPath run() && {
    path_.length = work_.makespan(starts_);
    path_.tail = work_.tail;
    walk_back();
    add_sums();
    add_slack();
    return std::move(path_);
  }

 private:
  [[nodiscard]] Duration end_of(std::size_t node) const {
    return starts_[node] + work_.durations[node];
  }

  void add_segment(std::size_t node, bool waits, Duration begin, Duration end) {
    if (begin < end) {
      path_.segments.push_back(
          {.piece = work_.pieces[node], .waits = waits, .begin = begin, .end = end});
    }
  }

  /// From the last end to the begin of the step; `leave` is when the path goes on from the node.
  void walk_back() {
    std::optional<std::size_t> node;
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      if (!node || end_of(i) > end_of(*node)) {
        node = i;
      }
    }
    Duration leave = path_.length - work_.tail;
    while (node) {
      const Duration start = std::min(starts_[*node], leave);
      const Duration there = std::min(starts_[*node] - work_.delays[*node], start);
      add_segment(*node, false, start, leave);
      add_segment(*node, true, there, start);
      leave = there;
      node = binding(*node);
    }
    // Before the first of them nothing has to be waited for: it is at zero.
    std::ranges::reverse(path_.segments);
  }

  /// What the node's start followed from.
  [[nodiscard]] std::optional<std::size_t> binding(std::size_t node) const {
    const TimingGraph& graph = work_.graph;
    const Duration start = starts_[node] - work_.delays[node];
    std::optional<std::size_t> other;
    for (auto e = static_cast<std::size_t>(graph.edge_begin[node]);
         e < static_cast<std::size_t>(graph.edge_begin[node + 1]);
         ++e) {
      const auto from = static_cast<std::size_t>(graph.from[e]);
      if (end_of(from) + graph.lag[e] == start) {
        if (graph.kind[e] == EdgeKind::kStream) {
          return from;
        }
        other = from;
      }
    }
    return start > Duration{} ? other : std::nullopt;
  }

  void add_sums() {
    for (const PathSegment& segment : path_.segments) {
      const WorkPiece& piece = segment.piece;
      const Duration length = segment.end - segment.begin;
      if (segment.waits) {
        path_.late += length;
        continue;
      }
      path_.by_kind[static_cast<std::size_t>(piece.kind)] += length;
      if (is_stage_work(piece.kind)) {
        path_.by_stage[piece.stage] += length;
      }
    }
  }

  void add_slack() {
    const TimingGraph& graph = work_.graph;
    std::vector<Duration> latest(starts_.size(), path_.length - work_.tail);  // ends
    for (auto node = graph.order.rbegin(); node != graph.order.rend(); ++node) {
      const auto i = static_cast<std::size_t>(*node);
      const Duration start = latest[i] - work_.durations[i] - work_.delays[i];
      for (auto e = static_cast<std::size_t>(graph.edge_begin[i]);
           e < static_cast<std::size_t>(graph.edge_begin[i + 1]);
           ++e) {
        Duration& before = latest[static_cast<std::size_t>(graph.from[e])];
        before = std::min(before, start - graph.lag[e]);
      }
    }
    const std::vector<std::size_t> actions = work_.actions();
    std::vector<std::optional<ActionSlack>> slack(actions.size());
    for (std::size_t i = 0; i < latest.size(); ++i) {
      const WorkPiece& piece = work_.pieces[i];
      if (is_stage_work(piece.kind) || piece.kind == WorkKind::kOptimizer) {
        std::optional<ActionSlack>& least = slack[actions[i]];
        const ActionSlack here{piece.rank, piece.action, latest[i] - end_of(i)};
        least = least && least->slack < here.slack ? least : here;
      }
    }
    for (const std::optional<ActionSlack>& action : slack) {
      if (action) {
        path_.slack.push_back(*action);
      }
    }
  }

  const StepWork& work_;
  std::vector<Duration> starts_;
  CriticalPath path_;
};

}  // namespace

CriticalPath critical_path(const StepWork& work) {
  return PathWalk(work).run();
}

}  // namespace stagewright
