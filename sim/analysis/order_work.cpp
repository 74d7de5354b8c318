#include "sim/analysis/order_work.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/check.h"

namespace stagewright {
namespace {

WorkKind kind_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return WorkKind::kForward;
    case ActionKind::kBackward:
      return WorkKind::kBackward;
    case ActionKind::kBackwardInput:
      return WorkKind::kBackwardInput;
    case ActionKind::kBackwardWeight:
      return WorkKind::kBackwardWeight;
    case ActionKind::kRecompute:
      return WorkKind::kRecompute;
    case ActionKind::kLoadMicroBatch:
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
    case ActionKind::kOptimizerStep:
    case ActionKind::kUpdateParameters:
      break;
  }
  SW_CHECK(false, "an action that computes");
}

/// Turns lags into messages, which take time of their own, and joins into edges.
class OrderWork {
 public:
  OrderWork(const PipelineOrder& order,
            const PipelineGraph& graph,
            std::span<const Duration> lags,
            std::span<const Duration> durations)
      : order_(order), graph_(graph), lags_(lags), durations_(durations) {}

  StepWork run() && {
    add_actions();
    for (std::size_t i = 1; i < graph_.graph.size(); ++i) {
      if (const std::optional<NodeIndex> node = node_of_[i]) {
        connect(i, *node);
      }
    }
    TimingGraphBuilder::Built built = std::move(builder_).build();
    SW_CHECK(built.cycle.empty(), "a compiled order has no cycle");
    work_.graph = std::move(built.graph);
    return std::move(work_);
  }

 private:
  void add_actions() {
    node_of_.resize(graph_.graph.size());
    for (std::size_t rank = 0; rank < graph_.ranks(); ++rank) {
      const std::span<const SweepIndex> indices = graph_.of_rank(rank);
      WorkRank& of_rank = work_.ranks.emplace_back();
      of_rank.rank = RankId(rank);
      for (std::size_t place = 0; place < indices.size(); ++place) {
        const auto i = static_cast<std::size_t>(indices[place]);
        if (!node_of_[i]) {
          node_of_[i] = add_action(rank, place, i);
          of_rank.busy += durations_[i];
        }
      }
    }
  }

  NodeIndex add_action(std::size_t rank, std::size_t place, std::size_t index) {
    const Action& action = order_.ranks[rank][place];
    return add({.kind = kind_of(graph_.works[graph_.graph.work[index]]),
                .rank = static_cast<std::int32_t>(rank),
                .action = static_cast<std::int32_t>(place),
                .stage = action.stage,
                .micro_batch = action.micro_batch,
                .busy = durations_[index]},
               durations_[index]);
  }

  NodeIndex add(const WorkPiece& piece, Duration duration) {
    work_.pieces.push_back(piece);
    work_.durations.push_back(duration);
    work_.delays.emplace_back();
    return builder_.add_node();
  }

  /// Edges of an index, and of the joins in front of it, to a node.
  void connect(std::size_t index, NodeIndex node) {
    const auto first = static_cast<std::size_t>(graph_.graph.first[index]);
    const auto second = static_cast<std::size_t>(graph_.graph.second[index]);
    const WorkClass work = graph_.graph.work[index];
    if (graph_.works[work].late && lags_[work] > Duration{}) {
      WorkPiece begin = work_.pieces[static_cast<std::size_t>(node)];
      begin.kind = WorkKind::kIssue;
      begin.busy = {};
      const NodeIndex late = add(begin, {});
      work_.delays[static_cast<std::size_t>(late)] = lags_[work];
      builder_.add_edge(late, node, EdgeKind::kIssue);
    }
    if (node_of_[first]) {
      builder_.add_edge(*node_of_[first], node, EdgeKind::kStream);
    } else if (first != 0) {
      connect(first, node);
    }
    if (second == 0) {
      return;
    }
    SW_CHECK(node_of_[second], "the second edge leads to an action");
    if (!graph_.works[work].border) {
      builder_.add_edge(*node_of_[second], node, EdgeKind::kData);
      return;
    }
    WorkPiece message = work_.pieces[static_cast<std::size_t>(node)];
    message.kind = WorkKind::kTransfer;
    message.busy = {};
    const NodeIndex transfer = add(message, lags_[work]);
    builder_.add_edge(*node_of_[second], transfer, EdgeKind::kData);
    builder_.add_edge(transfer, node, EdgeKind::kData);
  }

  const PipelineOrder& order_;
  const PipelineGraph& graph_;
  std::span<const Duration> lags_;
  std::span<const Duration> durations_;
  std::vector<std::optional<NodeIndex>> node_of_;  ///< by index; none for joins
  TimingGraphBuilder builder_;
  StepWork work_;
};

}  // namespace

WorkKind kind_of(const PipelineWork& work) {
  SW_CHECK(work.part, "work of an action");
  return work.beside ? WorkKind::kOverlapped : kind_of(work.part->kind);
}

StepWork work_of(const PipelineOrder& order,
                 const PipelineGraph& graph,
                 std::span<const Duration> lags,
                 std::span<const Duration> durations) {
  return OrderWork(order, graph, lags, durations).run();
}

StepWork work_of(const PipelineOrder& order,
                 const PipelineGraph& graph,
                 const PipelineCosts& costs) {
  std::vector<Duration> prices;
  std::vector<Duration> lags;
  price(graph, costs, prices);
  price_lags(graph, costs, lags);
  return work_of(order, graph, lags, spread(graph, prices));
}

}  // namespace stagewright
