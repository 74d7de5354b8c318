#include "sim/engine/schedule_events.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "core/schedule/channels.h"
#include "core/schedule/checks.h"
#include "core/schedule/touches.h"
#include "sim/cost/analytical_links.h"
#include "sim/cost/rank_rules.h"
#include "sim/cost/schedule_geometry.h"
#include "sim/engine/event_steps.h"
#include "sim/engine/event_walk.h"
#include "sim/engine/like_ranks.h"
#include "sim/engine/message_pairs.h"
#include "sim/network/cluster_links.h"
#include "sim/network/traffic_classes.h"

namespace stagewright {
namespace {

using Pairs = std::vector<std::vector<std::optional<PairedReceive>>>;

/// As if nobody else used the node's ports.
GroupGeometry unshared(GroupGeometry geometry) {
  geometry.groups_per_node = 1;
  return geometry;
}

class ScheduleGraph {
 public:
  ScheduleGraph(const Schedule& schedule,
                const Cluster& cluster,
                const CostModel& cost,
                ScheduleEventOptions options,
                ScheduleGeometry geometry)
      : schedule_(schedule),
        cluster_(cluster),
        cost_(cost),
        options_(std::move(options)),
        geometry_(std::move(geometry)),
        links_(cluster, result_.graph.network) {}

  [[nodiscard]] Result<ScheduleEvents> run() && {
    find_classes();
    auto pairs = pair_messages(schedule_, classes_);
    if (!pairs) {
      return pass_on(std::move(pairs));
    }
    pairs_ = *std::move(pairs);
    prepare();
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      walk(RankId(rank));
    }
    result_.node_begin.push_back(static_cast<std::int32_t>(result_.action_nodes.size()));
    TimingGraphBuilder::Built built = std::move(builder_).build();
    if (!built.cycle.empty()) {
      return fail(ErrorCode::kInfeasible, "deadlock: " + cycle_text(built.cycle));
    }
    result_.graph.graph = std::move(built.graph);
    drop_free_links(result_.graph, channel_);
    return std::move(result_);
  }

 private:
  /// Who stands for whom.  Ranks that share a device are not folded: a device has no multiplicity.
  void find_classes() {
    std::vector<std::int32_t> on_device(static_cast<std::size_t>(cluster_.device_count()));
    bool alone = true;
    for (const RankBinding& binding : schedule_.ranks) {
      alone = ++on_device[binding.device.index()] == 1 && alone;
    }
    result_.graph.ranks_on_device = std::move(on_device);
    if (options_.representatives != Representatives::kNone && alone) {
      traffic_.emplace(schedule_, cluster_, geometry_, labels(), links_, result_.graph.network);
      classes_ = traffic_->ranks();
    } else {
      classes_ = unlike_ranks(schedule_);
    }
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      rank_on_device_[schedule_.ranks[rank].device.value()] = RankId(rank);
    }
    for (const std::size_t rank_class : classes_.class_of_rank) {
      result_.stands_for.push_back(classes_.lowest[rank_class]);
    }
  }

  /// What keeps ranks apart beside their work and traffic.
  [[nodiscard]] std::vector<std::int64_t> labels() const {
    std::vector<std::int64_t> labels(schedule_.ranks.size(), 0);
    if (options_.representatives == Representatives::kWithinReplica) {
      std::ranges::transform(schedule_.ranks, labels.begin(), &RankBinding::replica);
    }
    for (std::size_t i = 0; i < options_.apart.size(); ++i) {
      labels[options_.apart[i].index()] = -1 - static_cast<std::int64_t>(i);
    }
    return labels;
  }

  void prepare() {
    for (const RankId rank : classes_.lowest) {
      const RankBinding& binding = schedule_.ranks[rank.index()];
      RankPlace place;
      place.device = &cluster_.type_of(binding.device);
      for (const GroupId group : binding.groups) {
        place.groups.push_back(unshared(geometry_of_group(group)));
        place.group_kinds.push_back(schedule_.groups[group.index()].kind);
      }
      apply_rules(schedule_, cluster_, geometry_, rank, cost_, place);
      steps_.push_back(steps_for(binding, std::move(place)));
      message_.emplace_back(schedule_.programs[binding.program.index()].actions.size(), -1);
    }
    result_.graph.ranks = static_cast<std::int32_t>(schedule_.ranks.size());
    std::int32_t action = 0;
    for (const RankBinding& binding : schedule_.ranks) {
      result_.action_begin.push_back(action);
      action +=
          static_cast<std::int32_t>(schedule_.programs[binding.program.index()].actions.size());
    }
    result_.action_begin.push_back(action);
  }

  [[nodiscard]] const GroupGeometry& geometry_of_group(GroupId group) const {
    return geometry_.distinct[static_cast<std::size_t>(geometry_.of_group[group.index()])];
  }

  void walk(RankId rank) {
    if (result_.stands_for[rank.index()] != rank) {
      const auto actions = static_cast<std::size_t>(result_.action_begin[rank.index() + 1] -
                                                    result_.action_begin[rank.index()]);
      result_.node_begin.insert(result_.node_begin.end(),
                                actions,
                                static_cast<std::int32_t>(result_.action_nodes.size()));
      return;
    }
    EventWalk walk(schedule_.programs[schedule_.ranks[rank.index()].program.index()]);
    walk.rank = rank;
    walk.rank_class = classes_.class_of_rank[rank.index()];
    walk.steps = steps_[walk.rank_class].get();
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

  NodeIndex add_node(const EventWalk& walk,
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
  [[nodiscard]] static std::vector<NodeIndex> needs_of(EventWalk& walk,
                                                       const EventStep& step,
                                                       MicroBatchId micro_batch) {
    const bool computes = step.stream == kComputeStream;
    std::vector<NodeIndex> needs;
    for (const EventStep::Use& use : step.uses) {
      EventTensor& tensor = walk.state(use.tensor, micro_batch);
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

  static void note_uses(EventWalk& walk,
                        const EventStep& step,
                        MicroBatchId micro_batch,
                        NodeIndex node) {
    const bool computes = step.stream == kComputeStream;
    for (const EventStep::Use& use : step.uses) {
      EventTensor& tensor = walk.state(use.tensor, micro_batch);
      if (use.writes) {
        tensor = {.writer = node, .writer_stream = step.stream, .seen = computes};
      } else if (computes) {
        tensor.compute_reader = node;
      } else {
        tensor.other_readers.push_back(node);
      }
    }
  }

  void add_step(EventWalk& walk, const EventStep& step, MicroBatchId micro_batch) {
    walk.streams.resize(std::max(walk.streams.size(), step.stream.index() + 1));
    EventWalk::Stream& stream = walk.streams[step.stream.index()];
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
      block_compute(walk, step, node);
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

  /// A collective that the compute stream waits for at once, before it goes on.
  void block_compute(EventWalk& walk, const EventStep& step, NodeIndex node) {
    if (step.blocks) {
      EventWalk::Stream& compute = walk.streams[kComputeStream.index()];
      if (compute.last && *compute.last != node) {
        builder_.add_edge(*compute.last, node, EdgeKind::kStream);
      }
      compute = {.last = node, .gate = walk.gate};
      walk.open.reset();
    }
  }

  /// The node of a collective, one for all of its members.
  NodeIndex meet(EventWalk& walk, const EventStep& step) {
    const RankBinding& binding = schedule_.ranks[walk.rank.index()];
    const GroupId group = binding.groups[step.group->index()];
    const std::pair key{classes_.group_kinds[walk.rank_class][step.group->index()],
                        walk.meetings[*step.group]++};
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
      if (traffic_) {
        fold(found->second, traffic_->fold_group(group, uses_of(found->second)));
      }
    }
    return found->second;
  }

  std::int32_t channel_of(const std::tuple<int, std::int32_t, std::int32_t, int>& key) {
    return channels_.try_emplace(key, static_cast<std::int32_t>(channels_.size())).first->second;
  }

  void send(EventWalk& walk, std::size_t i) {
    const Action& action = walk.program->actions[i];
    const NodeIndex message = message_at(*pairs_[walk.rank_class][i], walk);
    price_message(message, walk, action);
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
      EventTensor& tensor = walk.state(memory_owner(*walk.program, moved), action.micro_batch);
      if (tensor.writer) {
        builder_.add_edge(*tensor.writer, message, EdgeKind::kData);
      }
      tensor.other_readers.push_back(message);
    }
  }

  void receive(EventWalk& walk, std::size_t i) {
    const Action& action = walk.program->actions[i];
    const NodeIndex message = message_at(
        {static_cast<std::uint32_t>(walk.rank_class), static_cast<std::int32_t>(i)}, walk);
    result_.action_nodes.push_back(message);
    if (walk.gate) {
      builder_.add_edge(*walk.gate, message, EdgeKind::kIssue);
    }
    for (const TensorId moved : moved_tensors(*walk.program, action)) {
      EventTensor& tensor = walk.state(memory_owner(*walk.program, moved), action.micro_batch);
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

  /// The node of a message, which both sides know by its receive; the sender prices it.
  NodeIndex message_at(const PairedReceive& receive, const EventWalk& walk) {
    NodeIndex& known = message_[receive.rank_class][static_cast<std::size_t>(receive.action)];
    if (known < 0) {
      known = add_node(walk, EventGraph::Kind::kFlow, 0, {}, -1);
    }
    return known;
  }

  void price_message(NodeIndex message, const EventWalk& walk, const Action& action) {
    const RankBinding& binding = schedule_.ranks[walk.rank.index()];
    const GroupGeometry ends = unshared(geometry_.distinct[static_cast<std::size_t>(
        geometry_.of_peers[walk.rank.index()][action.peer.index()])]);
    const Bytes size = message_bytes(*walk.program, action);
    const auto node = static_cast<std::size_t>(message);
    EventGraph& graph = result_.graph;
    graph.alone[node] = message_time(size, ends, steps_[walk.rank_class]->place(), cost_);
    graph.place[node] = route_over(walk.rank, action.peer, size, graph.alone[node], ends);
    graph.rank[node] = walk.rank.value();
    graph.action[node] = walk.action;
    channel_[node] = channel_of({0,
                                 walk.rank.value(),
                                 binding.peers[action.peer.index()].value(),
                                 static_cast<int>(message_kind(action.kind))});
  }

  RouteIndex route_over(
      RankId from, PeerSlot slot, Bytes size, Duration alone, const GroupGeometry& ends) {
    const auto [found, is_new] = message_routes_.try_emplace({from, slot, size}, 0);
    if (is_new) {
      const RankId to = schedule_.ranks[from.index()].peers[slot.index()];
      const Duration latency = ends.nodes > 1 ? ends.inter_node.latency : ends.intra_node.latency;
      found->second = links_.message(schedule_.ranks[from.index()].device,
                                     schedule_.ranks[to.index()].device,
                                     size,
                                     alone,
                                     latency);
      if (traffic_) {
        fold(found->second, traffic_->fold_message(from, slot, uses_of(found->second)));
      }
    }
    return found->second;
  }

  [[nodiscard]] std::span<const LinkUse> uses_of(RouteIndex route) const {
    return result_.graph.network.uses_of(route);
  }

  /// Makes the route's flow stand for all of its class.
  void fold(RouteIndex route, const std::vector<LinkUse>& uses) {
    LinkNetwork& network = result_.graph.network;
    Route& folded = network.routes[static_cast<std::size_t>(route)];
    folded.first_use = static_cast<std::int32_t>(network.uses.size());
    folded.uses = static_cast<std::int32_t>(uses.size());
    network.uses.insert(network.uses.end(), uses.begin(), uses.end());
    const auto first = network.ends.begin() + folded.first_end;
    const auto end = first + folded.ends;
    std::transform(first, end, first, [this](std::int32_t device) {
      const RankId simulated = result_.stands_for[rank_on_device_.at(device).index()];
      return schedule_.ranks[simulated.index()].device.value();
    });
    std::sort(first, end);
    folded.ends = static_cast<std::int32_t>(std::unique(first, end) - first);
  }

  [[nodiscard]] std::unique_ptr<EventSteps> steps_for(const RankBinding& binding,
                                                      RankPlace place) const {
    return std::make_unique<EventSteps>(
        schedule_.programs[binding.program.index()], std::move(place), cost_);
  }

  [[nodiscard]] std::string cycle_text(const std::vector<NodeIndex>& cycle) const {
    std::vector<std::pair<RankId, std::int32_t>> places;
    for (const NodeIndex node : cycle) {
      const std::int32_t number = result_.graph.action[static_cast<std::size_t>(node)];
      const auto after = std::ranges::upper_bound(result_.action_begin, number);
      const auto rank = static_cast<std::size_t>(after - result_.action_begin.begin()) - 1;
      places.emplace_back(rank, number - result_.action_begin[rank]);
    }
    return action_cycle_text(schedule_, std::move(places));
  }

  const Schedule& schedule_;
  const Cluster& cluster_;
  const CostModel& cost_;
  ScheduleEventOptions options_;
  ScheduleGeometry geometry_;
  RankClasses classes_;
  std::vector<std::unique_ptr<EventSteps>> steps_;  ///< by class
  TimingGraphBuilder builder_;
  ScheduleEvents result_;
  Pairs pairs_;
  std::map<std::int32_t, RankId> rank_on_device_;
  std::optional<TrafficClasses> traffic_;        ///< where ranks stand for others
  std::vector<std::vector<NodeIndex>> message_;  ///< by class and receive; below zero: none yet
  ClusterLinks links_;
  std::vector<std::int32_t> channel_;  ///< by node
  std::map<std::tuple<int, std::int32_t, std::int32_t, int>, std::int32_t> channels_;
  /// By kind of group and how many it had before.
  std::map<std::pair<std::size_t, std::int32_t>, NodeIndex> meetings_;
  std::map<std::tuple<GroupId, OpKind, Bytes, Duration>, RouteIndex> collective_routes_;
  std::map<std::tuple<RankId, PeerSlot, Bytes>, RouteIndex> message_routes_;
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
  return ScheduleGraph(schedule, cluster, cost, options, *std::move(geometry)).run();
}

}  // namespace stagewright
