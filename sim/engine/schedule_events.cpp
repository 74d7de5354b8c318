#include "sim/engine/schedule_events.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/schedule/channels.h"
#include "core/schedule/semantics.h"
#include "core/schedule/touches.h"
#include "sim/cost/analytical_links.h"
#include "sim/cost/schedule_geometry.h"
#include "sim/engine/event_steps.h"
#include "sim/engine/like_ranks.h"
#include "sim/network/cluster_links.h"

namespace stagewright {
namespace {

using Matches = std::vector<std::vector<std::optional<Match>>>;

/// As if nobody else used the node's ports.
GroupGeometry unshared(GroupGeometry geometry) {
  geometry.groups_per_node = 1;
  return geometry;
}

/// Who has used a tensor that communication has a part in.
struct TensorState {
  std::optional<NodeIndex> writer;
  std::optional<StreamId> writer_stream;  ///< absent: a message
  bool seen = false;                      ///< the compute stream has waited for the writer
  std::optional<NodeIndex> compute_reader;
  std::vector<NodeIndex> other_readers;
};

/// What the walk over one rank's list carries along.
struct Walk {
  RankId rank;
  const RankProgram* program = nullptr;
  EventSteps* steps = nullptr;
  std::int32_t action = 0;  ///< number over all ranks
  struct Stream {
    std::optional<NodeIndex> last;
    std::optional<NodeIndex> gate;  ///< it waited for
  };
  std::vector<Stream> streams;
  std::optional<NodeIndex> open;  ///< computation of this action that more may join
  bool issued = false;            ///< this action has a node
  std::optional<NodeIndex> gate;
  std::map<GroupId, std::int32_t> meetings;  ///< so many so far
  std::map<std::pair<PeerSlot, MessageKind>, NodeIndex> last_send;
  std::size_t micro_batches = 1;
  std::vector<std::size_t> first_state;  ///< by tensor
  std::vector<TensorState> states;

  [[nodiscard]] TensorState& state(TensorId owner, MicroBatchId micro_batch) {
    const bool persistent = program->tensors[owner.index()].scope == TensorScope::kPersistent;
    return states[first_state[owner.index()] + (persistent ? 0 : micro_batch.index())];
  }
};

class ScheduleGraph {
 public:
  ScheduleGraph(const Schedule& schedule,
                const Cluster& cluster,
                const CostModel& cost,
                const ScheduleEventOptions& options,
                ScheduleGeometry geometry,
                Matches matches)
      : schedule_(schedule),
        cluster_(cluster),
        cost_(cost),
        options_(options),
        geometry_(std::move(geometry)),
        matches_(std::move(matches)),
        links_(cluster, result_.graph.network) {}

  [[nodiscard]] Result<ScheduleEvents> run() && {
    prepare();
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      walk(RankId(rank));
    }
    result_.node_begin.push_back(static_cast<std::int32_t>(result_.action_nodes.size()));
    TimingGraphBuilder::Built built = builder_.build();
    if (!built.cycle.empty()) {
      return fail(ErrorCode::kInfeasible,
                  "these actions wait for each other for ever: " + cycle_text(built.cycle));
    }
    result_.graph.graph = std::move(built.graph);
    drop_free_links(result_.graph, channel_);
    return std::move(result_);
  }

 private:
  void prepare() {
    classes_ = like_ranks(schedule_, cluster_, geometry_);
    for (const RankId rank : classes_.lowest) {
      const RankBinding& binding = schedule_.ranks[rank.index()];
      RankPlace place;
      place.device = &cluster_.type_of(binding.device);
      for (const GroupId group : binding.groups) {
        place.groups.push_back(unshared(geometry_of_group(group)));
        place.group_kinds.push_back(schedule_.groups[group.index()].kind);
      }
      steps_.push_back(std::make_unique<EventSteps>(
          schedule_.programs[binding.program.index()], std::move(place), cost_));
    }
    result_.graph.ranks = static_cast<std::int32_t>(schedule_.ranks.size());
    result_.graph.ranks_on_device.resize(static_cast<std::size_t>(cluster_.device_count()));
    std::int32_t action = 0;
    for (const RankBinding& binding : schedule_.ranks) {
      ++result_.graph.ranks_on_device[binding.device.index()];
      result_.action_begin.push_back(action);
      action +=
          static_cast<std::int32_t>(schedule_.programs[binding.program.index()].actions.size());
    }
    result_.action_begin.push_back(action);
    message_.assign(static_cast<std::size_t>(action), -1);
  }

  [[nodiscard]] const GroupGeometry& geometry_of_group(GroupId group) const {
    return geometry_.distinct[static_cast<std::size_t>(geometry_.of_group[group.index()])];
  }

  [[nodiscard]] Walk begin(RankId rank) {
    Walk walk;
    walk.rank = rank;
    walk.program = &schedule_.programs[schedule_.ranks[rank.index()].program.index()];
    walk.steps = steps_[classes_.class_of_rank[rank.index()]].get();
    for (const Action& action : walk.program->actions) {
      walk.micro_batches = std::max(walk.micro_batches, action.micro_batch.index() + 1);
    }
    std::size_t states = 0;
    for (const TensorSpec& tensor : walk.program->tensors) {
      walk.first_state.push_back(states);
      states += tensor.scope == TensorScope::kPersistent ? 1 : walk.micro_batches;
    }
    walk.states.resize(states);
    return walk;
  }

  void walk(RankId rank) {
    Walk walk = begin(rank);
    for (std::size_t i = 0; i < walk.program->actions.size(); ++i) {
      const Action& action = walk.program->actions[i];
      walk.action = result_.action_begin[rank.index()] + static_cast<std::int32_t>(i);
      result_.node_begin.push_back(static_cast<std::int32_t>(result_.action_nodes.size()));
      walk.open.reset();
      walk.issued = false;
      if (is_send(action.kind)) {
        send(walk, i);
      } else if (is_receive(action.kind)) {
        receive(walk, i);
      } else {
        for (const EventStep& step : walk.steps->of(action)) {
          add_step(walk, step, action.micro_batch);
        }
      }
    }
  }

  NodeIndex add_node(const Walk& walk,
                     EventGraph::Kind kind,
                     std::int32_t place,
                     Duration alone,
                     std::int32_t channel) {
    EventGraph& graph = result_.graph;
    graph.kind.push_back(kind);
    graph.place.push_back(place);
    graph.alone.push_back(alone);
    graph.rank.push_back(walk.rank.value());
    graph.action.push_back(walk.action);
    graph.first.push_back(0);
    channel_.push_back(channel);
    return builder_.add_node();
  }

  /// What a step waits for beside its own stream.
  [[nodiscard]] std::vector<NodeIndex> needs_of(Walk& walk,
                                                const EventStep& step,
                                                MicroBatchId micro_batch) {
    const bool computes = step.stream == kComputeStream;
    std::vector<NodeIndex> needs;
    for (const EventStep::Use& use : step.uses) {
      TensorState& tensor = walk.state(use.tensor, micro_batch);
      if (tensor.writer && tensor.writer_stream != step.stream && !(computes && tensor.seen)) {
        needs.push_back(*tensor.writer);
      }
      if (use.writes) {
        if (tensor.compute_reader && !computes) {
          needs.push_back(*tensor.compute_reader);
        }
        needs.insert(needs.end(), tensor.other_readers.begin(), tensor.other_readers.end());
      }
      tensor.seen = tensor.seen || computes;
    }
    return needs;
  }

  static void note_uses(Walk& walk,
                        const EventStep& step,
                        MicroBatchId micro_batch,
                        NodeIndex node) {
    const bool computes = step.stream == kComputeStream;
    for (const EventStep::Use& use : step.uses) {
      TensorState& tensor = walk.state(use.tensor, micro_batch);
      if (use.writes) {
        tensor = {.writer = node, .writer_stream = step.stream, .seen = computes};
      } else if (computes) {
        tensor.compute_reader = node;
      } else {
        tensor.other_readers.push_back(node);
      }
    }
  }

  void add_step(Walk& walk, const EventStep& step, MicroBatchId micro_batch) {
    if (walk.streams.size() <= step.stream.index()) {
      walk.streams.resize(step.stream.index() + 1);
    }
    Walk::Stream& stream = walk.streams[step.stream.index()];
    const std::vector<NodeIndex> needs = needs_of(walk, step, micro_batch);
    const bool computes = step.stream == kComputeStream && !step.group;
    const bool gated = walk.gate && stream.gate != walk.gate;
    if (computes && walk.open && needs.empty() && !gated) {
      result_.graph.alone[static_cast<std::size_t>(*walk.open)] += step.alone;
      note_uses(walk, step, micro_batch, *walk.open);
    } else {
      const NodeIndex node = step.group
                                 ? meet(walk, step)
                                 : add_node(walk,
                                            EventGraph::Kind::kCompute,
                                            schedule_.ranks[walk.rank.index()].device.value(),
                                            step.alone,
                                            -1);
      if (stream.last) {
        builder_.add_edge(*stream.last, node, EdgeKind::kStream);
      }
      if (gated) {
        builder_.add_edge(*walk.gate, node, EdgeKind::kIssue);
      }
      for (const NodeIndex need : needs) {
        builder_.add_edge(need, node, EdgeKind::kData);
      }
      result_.action_nodes.push_back(node);
      stream.last = node;
      stream.gate = walk.gate;
      note_uses(walk, step, micro_batch, node);
      if (computes) {
        walk.open = node;
        result_.graph.first[static_cast<std::size_t>(node)] = walk.issued ? 0 : 1;
        walk.issued = true;
      }
    }
    if (step.stream == kComputeStream && (step.group || !step.uses.empty())) {
      walk.open.reset();  // others may wait for exactly this step
    }
  }

  /// The node of a collective, one for all of its members.
  NodeIndex meet(Walk& walk, const EventStep& step) {
    const RankBinding& binding = schedule_.ranks[walk.rank.index()];
    const GroupId group = binding.groups[step.group->index()];
    const std::pair key{group, walk.meetings[group]++};
    const auto found = meetings_.find(key);
    if (found != meetings_.end()) {
      Duration& longest = result_.graph.alone[static_cast<std::size_t>(found->second)];
      longest = std::max(longest, step.alone);
      return found->second;
    }
    const NodeIndex node = add_node(walk,
                                    EventGraph::Kind::kFlow,
                                    route_of(group, step),
                                    step.alone,
                                    channel_of({1, group.value(), step.stream.value(), 0}));
    meetings_.emplace(key, node);
    return node;
  }

  RouteIndex route_of(GroupId group, const EventStep& step) {
    const auto [found, is_new] =
        collective_routes_.try_emplace({group, step.kind, step.size, step.alone}, 0);
    if (is_new) {
      std::vector<DeviceId> devices;
      for (const RankId member : schedule_.groups[group.index()].members) {
        devices.push_back(schedule_.ranks[member.index()].device);
      }
      const Duration latency =
          collective_time(step.kind, Bytes(0), unshared(geometry_of_group(group)));
      found->second = links_.collective(step.kind, step.size, devices, step.alone, latency);
    }
    return found->second;
  }

  std::int32_t channel_of(const std::tuple<int, std::int32_t, std::int32_t, int>& key) {
    return channels_.try_emplace(key, static_cast<std::int32_t>(channels_.size())).first->second;
  }

  void send(Walk& walk, std::size_t i) {
    const Action& action = walk.program->actions[i];
    const NodeIndex message = message_of(walk.rank, i, walk);
    result_.action_nodes.push_back(message);
    const std::pair channel{action.peer, message_kind(action.kind)};
    if (const auto last = walk.last_send.find(channel); last != walk.last_send.end()) {
      if (options_.buffered_sends) {
        builder_.add_edge(last->second, message, EdgeKind::kStream);
      } else {
        const NodeIndex gate = add_node(walk, EventGraph::Kind::kDelay, 0, {}, -1);
        if (walk.gate) {
          builder_.add_edge(*walk.gate, gate, EdgeKind::kIssue);
        }
        builder_.add_edge(last->second, gate, EdgeKind::kIssue);
        walk.gate = gate;
      }
    }
    walk.last_send[channel] = message;
    if (walk.gate) {
      builder_.add_edge(*walk.gate, message, EdgeKind::kIssue);
    }
    for (const TensorId moved : moved_tensors(*walk.program, action)) {
      TensorState& tensor = walk.state(memory_owner(*walk.program, moved), action.micro_batch);
      if (tensor.writer) {
        builder_.add_edge(*tensor.writer, message, EdgeKind::kData);
      }
      tensor.other_readers.push_back(message);
    }
  }

  void receive(Walk& walk, std::size_t i) {
    const Action& action = walk.program->actions[i];
    const Match& sender = *matches_[walk.rank.index()][i];
    const NodeIndex message =
        message_of(sender.rank, static_cast<std::size_t>(sender.action), walk);
    result_.action_nodes.push_back(message);
    if (walk.gate) {
      builder_.add_edge(*walk.gate, message, EdgeKind::kIssue);
    }
    for (const TensorId moved : moved_tensors(*walk.program, action)) {
      TensorState& tensor = walk.state(memory_owner(*walk.program, moved), action.micro_batch);
      for (const auto& earlier : {tensor.writer, tensor.compute_reader}) {
        if (earlier) {
          builder_.add_edge(*earlier, message, EdgeKind::kData);
        }
      }
      for (const NodeIndex reader : tensor.other_readers) {
        builder_.add_edge(reader, message, EdgeKind::kData);
      }
      tensor = {.writer = message};
    }
  }

  /// The node of a message, which both sides know by its send.
  NodeIndex message_of(RankId sender, std::size_t send, const Walk& walk) {
    std::int32_t& known = message_[static_cast<std::size_t>(result_.action_begin[sender.index()] +
                                                            static_cast<std::int32_t>(send))];
    if (known < 0) {
      const RankBinding& binding = schedule_.ranks[sender.index()];
      const RankProgram& program = schedule_.programs[binding.program.index()];
      const Action& action = program.actions[send];
      const RankId receiver = binding.peers[action.peer.index()];
      const GroupGeometry ends = unshared(geometry_.distinct[static_cast<std::size_t>(
          geometry_.of_peers[sender.index()][action.peer.index()])]);
      const Bytes size = message_bytes(program, action);
      const Duration alone = cost_.transfer(size, ends).time;
      known = add_node(
          walk,
          EventGraph::Kind::kFlow,
          route_between(sender, receiver, size, alone, ends),
          alone,
          channel_of(
              {0, sender.value(), receiver.value(), static_cast<int>(message_kind(action.kind))}));
      result_.graph.rank[static_cast<std::size_t>(known)] = sender.value();
      result_.graph.action[static_cast<std::size_t>(known)] =
          result_.action_begin[sender.index()] + static_cast<std::int32_t>(send);
    }
    return known;
  }

  RouteIndex route_between(
      RankId from, RankId to, Bytes size, Duration alone, const GroupGeometry& ends) {
    const auto [found, is_new] = message_routes_.try_emplace({from, to, size}, 0);
    if (is_new) {
      const Duration latency = ends.nodes > 1 ? ends.inter_node.latency : ends.intra_node.latency;
      found->second = links_.message(schedule_.ranks[from.index()].device,
                                     schedule_.ranks[to.index()].device,
                                     size,
                                     alone,
                                     latency);
    }
    return found->second;
  }

  [[nodiscard]] std::string cycle_text(const std::vector<NodeIndex>& cycle) const {
    std::string text;
    std::string last;
    for (const NodeIndex node : cycle) {
      const std::int32_t number = result_.graph.action[static_cast<std::size_t>(node)];
      const auto after = std::ranges::upper_bound(result_.action_begin, number);
      const auto rank = static_cast<std::size_t>(after - result_.action_begin.begin()) - 1;
      const std::int32_t index = number - result_.action_begin[rank];
      const RankProgram& program = schedule_.programs[schedule_.ranks[rank].program.index()];
      std::string place = fmt::format("rank {}, action {} ({})",
                                      rank,
                                      index,
                                      to_string(program.actions[static_cast<std::size_t>(index)]));
      if (place != last) {
        text += text.empty() ? place : " -> " + place;
        last = std::move(place);
      }
    }
    return text;
  }

  const Schedule& schedule_;
  const Cluster& cluster_;
  const CostModel& cost_;
  ScheduleEventOptions options_;
  ScheduleGeometry geometry_;
  Matches matches_;
  RankClasses classes_;
  std::vector<std::unique_ptr<EventSteps>> steps_;  ///< by class
  TimingGraphBuilder builder_;
  ScheduleEvents result_;
  std::vector<NodeIndex> message_;  ///< by action that sends; below zero: none yet
  ClusterLinks links_;
  std::vector<std::int32_t> channel_;  ///< by node
  std::map<std::tuple<int, std::int32_t, std::int32_t, int>, std::int32_t> channels_;
  std::map<std::pair<GroupId, std::int32_t>, NodeIndex> meetings_;
  std::map<std::tuple<GroupId, OpKind, Bytes, Duration>, RouteIndex> collective_routes_;
  std::map<std::tuple<RankId, RankId, Bytes>, RouteIndex> message_routes_;
};

}  // namespace

Result<ScheduleEvents> schedule_events(const Schedule& schedule,
                                       const Cluster& cluster,
                                       const CostModel& cost,
                                       const ScheduleEventOptions& options) {
  if (schedule.ranks.empty()) {
    return fail(ErrorCode::kInvalidInput, "the schedule has no ranks");
  }
  auto geometry = schedule_geometry(schedule, cluster);
  if (!geometry) {
    return pass_on(std::move(geometry));
  }
  auto matches = match_messages(schedule);
  if (!matches) {
    return pass_on(std::move(matches));
  }
  return ScheduleGraph(schedule, cluster, cost, options, *std::move(geometry), *std::move(matches))
      .run();
}

}  // namespace stagewright
