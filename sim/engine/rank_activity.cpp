#include "sim/engine/rank_activity.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "sim/analysis/step_use.h"
#include "sim/analysis/summary.h"

namespace stagewright {
namespace {

class Accountant {
 public:
  Accountant(const StepGraph& step, const StepTimes& times, const ClassWork& work)
      : step_(step), times_(times), work_(work) {}

  [[nodiscard]] RankActivity run() && {
    for (std::size_t action = 0; action < work_.actions.size(); ++action) {
      const std::span<const NodeIndex> nodes = work_.nodes(action);
      for (std::size_t p = 0; p < nodes.size(); ++p) {
        if (work_.pieces(action)[p].compute_begin) {
          kind_ = work_.program->actions[action].kind;
          add(nodes, nodes[p], work_.pieces(action)[p]);
        }
      }
    }
    add_tail();
    return std::move(activity_);
  }

 private:
  /// Collectives that go on when the rank has nothing left to compute.
  void add_tail() {
    for (std::size_t action = 0; action < work_.actions.size(); ++action) {
      for (const NodeIndex node : work_.nodes(action)) {
        const auto i = static_cast<std::size_t>(node);
        const Duration end = times_.start[i] + step_.durations[i];
        if (const auto kind = end > free_ ? communication(step_.nodes[i]) : std::nullopt) {
          activity_.outside[label(*kind, work_.program->actions[action].kind)] +=
              end - std::max(free_, times_.start[i]);
          free_ = end;
        }
      }
    }
  }

  /// `own` are all nodes of the piece's action.
  void add(std::span<const NodeIndex> own, NodeIndex node, const Piece& piece) {
    const Duration start = times_.start[static_cast<std::size_t>(node)];
    const Duration begin = start + *piece.compute_begin;
    activity_.busy += piece.duration - *piece.compute_begin;
    for (const CollectiveWait& wait : piece.waits) {
      activity_.exposed[wait.kind] += wait.time;
      add_inside(label(wait.kind, kind_), wait.time);
    }
    if (piece.leading) {
      const Duration shown = std::min(piece.leading->time, begin - free_);
      if (shown > Duration{}) {
        activity_.exposed[piece.leading->kind] += shown;
        add_inside(label(piece.leading->kind, kind_), shown);
        activity_.busy += shown;
      }
    }
    add_wait(own, node, start);
    free_ = start + piece.duration;
  }

  /// The stream was idle from free_ to `start`.  Follows the communication that kept it waiting,
  /// and what that one queued behind.
  void add_wait(std::span<const NodeIndex> own, NodeIndex node, Duration start) {
    while (start > free_) {
      const auto from = binding_communication(node, start);
      if (!from) {
        return;
      }
      const auto i = static_cast<std::size_t>(*from);
      const Duration end = std::min(times_.start[i] + step_.durations[i], start);
      const Duration shown = end - std::max(free_, times_.start[i]);
      if (shown > Duration{}) {
        const std::string kind = *communication(step_.nodes[i]);
        activity_.exposed[kind] += shown;
        const std::string named = label(kind, action_of(step_.nodes[i]).kind);
        if (std::ranges::find(own, *from) != own.end()) {
          add_inside(named, shown);
          activity_.busy += shown;
        } else {
          activity_.outside[named] += shown;
        }
      }
      node = *from;
      start = times_.start[i];
    }
  }

  void add_inside(const std::string& named, Duration time) {
    if (kind_ == ActionKind::kOptimizerStep || kind_ == ActionKind::kUpdateParameters) {
      activity_.in_optimizer += time;
    } else {
      activity_.inside[named] += time;
    }
  }

  [[nodiscard]] static std::string label(const std::string& kind, ActionKind action) {
    return action == ActionKind::kGatherParameters ? kParameterGathers : kind;
  }

  [[nodiscard]] const Action& action_of(const StepNode& node) const {
    return step_.classes[node.rank_class].program->actions[static_cast<std::size_t>(node.action)];
  }

  /// Which communication's end let the node start when it did, if it was one.
  [[nodiscard]] std::optional<NodeIndex> binding_communication(NodeIndex node,
                                                               Duration start) const {
    const TimingGraph& graph = step_.graph;
    const auto i = static_cast<std::size_t>(node);
    for (auto e = graph.edge_begin[i]; e < graph.edge_begin[i + 1]; ++e) {
      const auto edge = static_cast<std::size_t>(e);
      const NodeIndex from = graph.from[edge];
      const auto f = static_cast<std::size_t>(from);
      const Duration end = times_.start[f] + step_.durations[f];
      if (end + graph.lag[edge] == start && communication(step_.nodes[f])) {
        return from;
      }
    }
    return std::nullopt;
  }

  /// The kind of communication that a node is, if it is one.
  [[nodiscard]] std::optional<std::string> communication(const StepNode& node) const {
    if (node.kind == StepNode::Kind::kTransfer) {
      return kPipelineTransfers;
    }
    if (node.kind == StepNode::Kind::kGate) {
      return std::nullopt;
    }
    const ClassWork& work = step_.classes[node.rank_class];
    const auto action = static_cast<std::size_t>(node.action);
    const Piece& piece = work.pieces(action)[static_cast<std::size_t>(node.piece)];
    if (piece.compute_begin) {
      return std::nullopt;
    }
    const ActionOperations selection = operations_of(*work.program, action_of(node));
    const auto group = selection.ops[static_cast<std::size_t>(piece.ops.front().op)].group;
    return group ? std::optional(work.phases.place.group_kinds[group->index()]) : std::nullopt;
  }

  const StepGraph& step_;
  const StepTimes& times_;
  const ClassWork& work_;
  ActionKind kind_{};  ///< of the action at hand
  Duration free_{};
  RankActivity activity_;
};

}  // namespace

RankActivity rank_activity(const StepGraph& step, const StepTimes& times, const ClassWork& work) {
  return Accountant(step, times, work).run();
}

}  // namespace stagewright
