#include "sim/analysis/step_graph_work.h"

#include <algorithm>

#include "core/base/check.h"
#include "sim/engine/rank_activity.h"

namespace stagewright {
namespace {

WorkKind kind_of(const Action& action, bool computes) {
  switch (action.kind) {
    case ActionKind::kOptimizerStep:
    case ActionKind::kUpdateParameters:
      return WorkKind::kOptimizer;
    case ActionKind::kForward:
      return computes ? WorkKind::kForward : WorkKind::kCollective;
    case ActionKind::kBackward:
      return computes ? WorkKind::kBackward : WorkKind::kCollective;
    case ActionKind::kBackwardInput:
      return computes ? WorkKind::kBackwardInput : WorkKind::kCollective;
    case ActionKind::kBackwardWeight:
      return computes ? WorkKind::kBackwardWeight : WorkKind::kCollective;
    case ActionKind::kRecompute:
      return computes ? WorkKind::kRecompute : WorkKind::kCollective;
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
    case ActionKind::kLoadMicroBatch:
      return WorkKind::kCollective;
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
      return WorkKind::kTransfer;
  }
  SW_CHECK(false, "an action of a kind that is listed");
}

WorkPiece piece_of(const StepGraph& step, const StepNode& node, Duration duration) {
  const ClassWork& work = step.classes[node.rank_class];
  const auto index = static_cast<std::size_t>(node.action);
  const Action& action = work.program->actions[index];
  WorkPiece piece{.kind = WorkKind::kTransfer,
                  .rank = static_cast<std::int32_t>(node.rank_class),
                  .action = node.action,
                  .stage = action.stage,
                  .micro_batch = action.micro_batch,
                  .busy = {}};
  switch (node.kind) {
    case StepNode::Kind::kTransfer:
      break;
    case StepNode::Kind::kGate:
      piece.kind = WorkKind::kIssue;
      break;
    case StepNode::Kind::kPiece: {
      const Piece& part = work.pieces(index)[static_cast<std::size_t>(node.piece)];
      piece.kind = kind_of(action, part.compute_begin.has_value());
      if (part.compute_begin) {
        piece.busy = duration - *part.compute_begin;
      }
      break;
    }
  }
  return piece;
}

}  // namespace

StepWork work_of(const StepGraph& step, const StepTimes& times) {
  StepWork work{.graph = step.graph,
                .durations = step.durations,
                .delays = std::vector<Duration>(step.nodes.size()),
                .pieces = {},
                .ranks = {},
                .tail = {}};
  Duration last{};
  for (std::size_t i = 0; i < step.nodes.size(); ++i) {
    work.pieces.push_back(piece_of(step, step.nodes[i], step.durations[i]));
    last = std::max(last, times.start[i] + step.durations[i]);
  }
  work.tail = times.makespan - last;
  for (const ClassWork& of_class : step.classes) {
    work.ranks.push_back({.rank = of_class.rank,
                          .alike = of_class.ranks,
                          .busy = rank_activity(step, times, of_class).busy});
  }
  return work;
}

}  // namespace stagewright
