#include "sim/engine/step_graph.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "core/schedule/channels.h"
#include "core/schedule/checks.h"
#include "sim/engine/clock_check.h"
#include "sim/engine/issue_order.h"
#include "sim/engine/message_pairs.h"

namespace stagewright {
namespace {

using MessagePairs = std::vector<std::vector<std::optional<PairedReceive>>>;

class StepGraphBuilder {
 public:
  StepGraphBuilder(const Schedule& schedule,
                   const ScheduleGeometry& geometry,
                   const RankClasses& classes,
                   const CostModel& cost,
                   const StepGraphOptions& options,
                   MessagePairs pairs)
      : schedule_(schedule),
        geometry_(geometry),
        rank_classes_(classes),
        cost_(cost),
        options_(options),
        pairs_(std::move(pairs)) {}

  void add_class(ClassPhases phases) {
    const RankId lowest = rank_classes_.lowest[result_.classes.size()];
    const ProgramId program = schedule_.ranks[lowest.index()].program;
    ClassWork& work = result_.classes.emplace_back();
    work.rank = lowest;
    work.ranks = 0;
    work.program = &schedule_.programs[program.index()];
    work.phases = std::move(phases);
    work.actions.resize(work.program->actions.size());
  }

  /// When all classes are there.
  [[nodiscard]] Result<StepGraph> build() && {
    for (const std::size_t rank_class : rank_classes_.class_of_rank) {
      ++result_.classes[rank_class].ranks;
    }
    reserve();
    for (std::size_t c = 0; c < result_.classes.size(); ++c) {
      connect_class(c);
    }
    TimingGraphBuilder::Built built = std::move(builder_).build();
    if (!built.cycle.empty()) {
      return fail(ErrorCode::kInfeasible, "deadlock: " + cycle_text(built.cycle));
    }
    result_.graph = std::move(built.graph);
    return std::move(result_);
  }

 private:
  /// What the walk over one class's actions carries along.
  struct Walk {
    std::uint32_t rank_class = 0;
    ClassWork* work = nullptr;
    IssueOrder order;
    std::optional<NodeIndex> gate;
    std::vector<std::int32_t> meetings;  ///< by GroupSlot: so many so far
    /// Last send per channel: by peer slot and kind of message.
    std::map<std::pair<PeerSlot, MessageKind>, NodeIndex> last_send;
  };

  /// Room for what all classes add, at most; edges roughly.
  void reserve() {
    std::size_t nodes = 0;
    std::size_t edges = 0;
    for (ClassWork& work : result_.classes) {
      std::size_t pieces = 0;
      for (std::size_t i = 0; i < work.actions.size(); ++i) {
        for (const Piece& piece : work.pieces(i)) {
          ++pieces;
          edges += 2 + piece.streams.size() + 2 * piece.tensors.size();
        }
      }
      work.piece_nodes.reserve(pieces);
      nodes += pieces + work.actions.size();
      edges += 2 * work.actions.size();
    }
    builder_.reserve(nodes, edges);
    result_.nodes.reserve(nodes);
    result_.durations.reserve(nodes);
  }

  void connect_class(std::size_t rank_class) {
    ClassWork& work = result_.classes[rank_class];
    Walk walk{.rank_class = static_cast<std::uint32_t>(rank_class),
              .work = &work,
              .order = IssueOrder(*work.program, work.phases.tracked, builder_),
              .gate = {},
              .meetings = std::vector<std::int32_t>(work.phases.place.groups.size(), 0),
              .last_send = {}};
    for (std::size_t i = 0; i < work.actions.size(); ++i) {
      const Action& action = work.program->actions[i];
      work.actions[i].first_piece = static_cast<std::int32_t>(work.piece_nodes.size());
      if (is_send(action.kind)) {
        connect_send(walk, i);
      } else if (is_receive(action.kind)) {
        connect_receive(walk, i);
      } else {
        connect_pieces(walk, i);
      }
      work.actions[i].gate = walk.gate;
    }
  }

  NodeIndex add_node(StepNode node, Duration duration) {
    result_.nodes.push_back(node);
    result_.durations.push_back(duration);
    return builder_.add_node();
  }

  /// Nothing is issued before the gate opens.
  void wait_for_gate(const Walk& walk, NodeIndex node) {
    if (walk.gate) {
      builder_.add_edge(*walk.gate, node, EdgeKind::kIssue);
    }
  }

  void connect_pieces(Walk& walk, std::size_t i) {
    const std::vector<Piece>& pieces = walk.work->pieces(i);
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const Piece& piece = pieces[p];
      const StepNode self{.kind = StepNode::Kind::kPiece,
                          .rank_class = walk.rank_class,
                          .action = static_cast<std::int32_t>(i),
                          .piece = static_cast<std::int32_t>(p)};
      const NodeIndex node = piece.meeting ? meet(walk, *piece.meeting, self, piece.duration)
                                           : add_node(self, piece.duration);
      walk.work->piece_nodes.push_back(node);
      wait_for_gate(walk, node);
      walk.order.add_piece(node, piece, walk.work->program->actions[i].micro_batch);
    }
  }

  /// The node of a collective that several classes take part in, the same for all of them.
  NodeIndex meet(Walk& walk, GroupSlot slot, const StepNode& self, Duration duration) {
    const std::pair key{rank_classes_.group_kinds[walk.rank_class][slot.index()],
                        walk.meetings[slot.index()]++};
    const auto found = meetings_.find(key);
    if (found == meetings_.end()) {
      return meetings_[key] = add_node(self, duration);
    }
    Duration& longest = result_.durations[static_cast<std::size_t>(found->second)];
    longest = std::max(longest, duration);
    return found->second;
  }

  /// The node of a message, which both sides know by the receive.
  NodeIndex transfer_node(const PairedReceive& receive) {
    std::optional<NodeIndex>& node = result_.classes[receive.rank_class]
                                         .actions[static_cast<std::size_t>(receive.action)]
                                         .transfer;
    if (!node) {
      node = add_node({.kind = StepNode::Kind::kTransfer,
                       .rank_class = receive.rank_class,
                       .action = receive.action},
                      {});
    }
    return *node;
  }

  void connect_send(Walk& walk, std::size_t i) {
    const Action& action = walk.work->program->actions[i];
    const NodeIndex transfer = transfer_node(*pairs_[walk.rank_class][i]);
    walk.work->actions[i].transfer = transfer;
    const std::pair channel{action.peer, message_kind(action.kind)};
    if (const auto last = walk.last_send.find(channel); last != walk.last_send.end()) {
      if (options_.buffered_sends) {
        builder_.add_edge(last->second, transfer, EdgeKind::kStream);
      } else {
        const NodeIndex gate = add_node({.kind = StepNode::Kind::kGate,
                                         .rank_class = walk.rank_class,
                                         .action = static_cast<std::int32_t>(i)},
                                        {});
        wait_for_gate(walk, gate);
        builder_.add_edge(last->second, gate, EdgeKind::kIssue);
        walk.gate = gate;
      }
    }
    walk.last_send[channel] = transfer;
    wait_for_gate(walk, transfer);
    walk.order.add_send(transfer, action);
    const auto rank = walk.work->rank.index();
    const auto ends = static_cast<std::size_t>(geometry_.of_peers[rank][action.peer.index()]);
    result_.durations[static_cast<std::size_t>(transfer)] =
        message_time(message_bytes(*walk.work->program, action),
                     geometry_.distinct[ends],
                     walk.work->phases.place,
                     cost_);
  }

  void connect_receive(Walk& walk, std::size_t i) {
    const NodeIndex transfer = transfer_node({walk.rank_class, static_cast<std::int32_t>(i)});
    wait_for_gate(walk, transfer);
    walk.order.add_receive(transfer, walk.work->program->actions[i]);
  }

  [[nodiscard]] std::string cycle_text(const std::vector<NodeIndex>& cycle) const {
    std::vector<std::pair<RankId, std::int32_t>> places;
    for (const NodeIndex index : cycle) {
      const StepNode& node = result_.nodes[static_cast<std::size_t>(index)];
      places.emplace_back(result_.classes[node.rank_class].rank, node.action);
    }
    return action_cycle_text(schedule_, std::move(places));
  }

  const Schedule& schedule_;
  const ScheduleGeometry& geometry_;
  const RankClasses& rank_classes_;
  const CostModel& cost_;
  StepGraphOptions options_;
  MessagePairs pairs_;
  TimingGraphBuilder builder_;
  StepGraph result_;
  /// By kind of group and how many it had before.
  std::map<std::pair<std::size_t, std::int32_t>, NodeIndex> meetings_;
};

/// When the last communication of a rank's pieces is over; some of it follows their computation.
Duration end_of_streams(const ClassWork& work, const StepTimes& times) {
  Duration last{};
  for (std::size_t action = 0; action < work.actions.size(); ++action) {
    const std::span<const NodeIndex> nodes = work.nodes(action);
    for (std::size_t p = 0; p < nodes.size(); ++p) {
      for (const StreamUse& use : work.pieces(action)[p].streams) {
        last = std::max(last, times.start[static_cast<std::size_t>(nodes[p])] + use.time.end);
      }
    }
  }
  return last;
}

}  // namespace

Result<StepGraph> build_step_graph(const Schedule& schedule,
                                   const Cluster& cluster,
                                   const ScheduleGeometry& geometry,
                                   const RankClasses& classes,
                                   const CostModel& cost,
                                   const StepGraphOptions& options) {
  auto pairs = pair_messages(schedule, classes);
  if (!pairs) {
    return pass_on(std::move(pairs));
  }
  StepGraphBuilder builder(schedule, geometry, classes, cost, options, *std::move(pairs));
  for (std::size_t c = 0; c < classes.lowest.size(); ++c) {
    builder.add_class(make_class_phases(schedule, cluster, geometry, classes, c, cost));
  }
  auto step = std::move(builder).build();
  if (step) {
    if (auto fits = check_clock(*step); !fits) {
      return pass_on(std::move(fits));
    }
  }
  return step;
}

StepTimes time_step(const StepGraph& step) {
  StepTimes times;
  times.start.resize(step.nodes.size());
  time_actions(step.graph, step.durations, times.start);
  for (std::size_t i = 0; i < step.nodes.size(); ++i) {
    times.makespan = std::max(times.makespan, times.start[i] + step.durations[i]);
  }
  for (const ClassWork& work : step.classes) {
    times.makespan = std::max(times.makespan, end_of_streams(work, times));
  }
  return times;
}

}  // namespace stagewright
