#include "sim/engine/event_engine.h"

#include <algorithm>
#include <cstddef>

#include "core/base/check.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/shared_devices.h"
#include "sim/network/shared_flows.h"

namespace stagewright {

/// What may change how long a node takes.  Not in the anonymous namespace: a field of a class is of
/// this type, which compilers refuse where several sources are one.
enum class Nature : std::uint8_t {
  kPlain,  ///< nobody can change how long it takes
  kTask,   ///< on a device where it may not have its full speed
  kFlow,   ///< over links that may fill, or seen by devices
};

namespace {

Nature nature_of(const EventGraph& graph, std::size_t node, bool slows) {
  const std::int32_t place = graph.place[node];
  switch (graph.kind[node]) {
    case EventGraph::Kind::kDelay:
      return Nature::kPlain;
    case EventGraph::Kind::kCompute:
      return !slows && graph.ranks_on_device[static_cast<std::size_t>(place)] <= 1 ? Nature::kPlain
                                                                                   : Nature::kTask;
    case EventGraph::Kind::kFlow:
      return graph.network.uses_of(place).empty() &&
                     (!slows || graph.network.ends_of(place).empty())
                 ? Nature::kPlain
                 : Nature::kFlow;
  }
  SW_CHECK(false, "a node of a kind that is listed");
}

}  // namespace

class EventEngine::Run {
 public:
  Run(const EventGraph& graph, const EventOptions& options)
      : graph_(graph),
        slows_(options.compute_slowdown > 1),
        flows_(graph.network,
               queue_,
               graph.nodes(),
               slows_ ? SharedFlows::Leaving::kTold : SharedFlows::Leaving::kSilent),
        devices_(graph.ranks_on_device.size(), graph.nodes(), options.compute_slowdown, queue_) {
    nodes_.resize(graph.nodes() + 1);
    for (std::size_t i = 0; i < graph.nodes(); ++i) {
      nodes_[i].nature = nature_of(graph, i, slows_);
      nodes_[i].place = graph.place[i];
    }
    find_followers();
    done_.reserve(graph.nodes());
  }

  const EventTimes& run(std::span<const Duration> alone) {
    simulate(alone);
    times_.start.resize(graph_.nodes());
    times_.end.resize(graph_.nodes());
    for (std::size_t i = 0; i < graph_.nodes(); ++i) {
      times_.start[i] = nodes_[i].start;
      times_.end[i] = nodes_[i].time;
    }
    times_.makespan = last_end();
    times_.lost_seconds = flows_.lost_seconds();
    return times_;
  }

  Duration makespan(std::span<const Duration> alone) {
    simulate(alone);
    return last_end();
  }

 private:
  /// All that a node needs, in one place: nodes are met in no order that a cache could foresee.
  struct Node {
    Duration start{};                 ///< the latest end so far of what it waits for
    Duration time{};                  ///< that it takes alone; of one that is done, its end
    std::int32_t waiting = 0;         ///< for so many nodes still
    std::int32_t first_follower = 0;  ///< into followers_; those of the next node follow
    std::int32_t place = 0;           ///< device or route
    Nature nature = Nature::kPlain;
  };
  static_assert(sizeof(Node) == 32, "two nodes to a cache line");

  void simulate(std::span<const Duration> alone) {
    SW_CHECK(alone.size() == graph_.nodes(), "a time for every node");
    reset(alone);
    for (const NodeIndex node : sources_) {
      begin(node);
    }
    follow();
    while (!queue_.empty()) {
      const Duration now = queue_.next().at;
      while (!queue_.empty() && queue_.next().at == now) {
        handle(queue_.pop());
        follow();
      }
      flows_.settle(now);
      devices_.settle(now);
    }
    SW_CHECK(finished_ == graph_.nodes(), "a graph without cycles");
  }

  [[nodiscard]] Duration last_end() const {
    Duration last{};
    for (std::size_t i = 0; i < graph_.nodes(); ++i) {
      last = std::max(last, nodes_[i].time);
    }
    return last;
  }

  void find_followers() {
    const TimingGraph& edges = graph_.graph;
    for (const NodeIndex from : edges.from) {
      ++nodes_[static_cast<std::size_t>(from) + 1].first_follower;
    }
    std::vector<std::int32_t> next;
    for (std::size_t i = 0; i < graph_.nodes(); ++i) {
      next.push_back(nodes_[i].first_follower);
      nodes_[i + 1].first_follower += nodes_[i].first_follower;
    }
    followers_.resize(edges.from.size());
    for (std::size_t to = 0; to < graph_.nodes(); ++to) {
      waits_for_.push_back(edges.edge_begin[to + 1] - edges.edge_begin[to]);
      if (waits_for_.back() == 0) {
        sources_.push_back(static_cast<NodeIndex>(to));
      }
      for (auto e = edges.edge_begin[to]; e < edges.edge_begin[to + 1]; ++e) {
        const auto from = static_cast<std::size_t>(edges.from[static_cast<std::size_t>(e)]);
        followers_[static_cast<std::size_t>(next[from]++)] = static_cast<NodeIndex>(to);
      }
    }
  }

  void reset(std::span<const Duration> alone) {
    for (std::size_t i = 0; i < alone.size(); ++i) {
      nodes_[i].start = Duration{};
      nodes_[i].time = alone[i];
      nodes_[i].waiting = waits_for_[i];
    }
    flows_.forget_losses();
    finished_ = 0;
  }

  /// All that the node waits for is done.
  void begin(NodeIndex index) {
    const auto i = static_cast<std::size_t>(index);
    Node& node = nodes_[i];
    if (node.nature == Nature::kPlain) {
      node.time += node.start;
      done_.push_back(index);
    } else {
      queue_.push({node.start, index, Event::Kind::kBegin});
    }
  }

  /// Passes on that the nodes in done_ have ended.
  void follow() {
    while (!done_.empty()) {
      const auto i = static_cast<std::size_t>(done_.back());
      done_.pop_back();
      ++finished_;
      const Duration end = nodes_[i].time;
      const auto last = static_cast<std::size_t>(nodes_[i + 1].first_follower);
      for (auto f = static_cast<std::size_t>(nodes_[i].first_follower); f < last; ++f) {
        Node& follower = nodes_[static_cast<std::size_t>(followers_[f])];
        follower.start = std::max(follower.start, end);
        if (--follower.waiting == 0) {
          begin(followers_[f]);
        }
      }
    }
  }

  void handle(const Event& event) {
    const auto i = static_cast<std::size_t>(event.node);
    const bool flow = nodes_[i].nature == Nature::kFlow;
    const std::int32_t place = nodes_[i].place;
    switch (event.kind) {
      case Event::Kind::kBegin:
        if (flow) {
          flows_.begin(event.node, place, event.at, nodes_[i].time);
          note_communication(place, true);
        } else {
          devices_.begin(event.node, place, event.at, nodes_[i].time);
        }
        return;
      case Event::Kind::kDue:
        if (flow ? arrived(event, place) : devices_.done(event.node, event.at)) {
          nodes_[i].time = event.at;
          done_.push_back(event.node);
        }
        return;
    }
  }

  bool arrived(const Event& event, RouteIndex route) {
    switch (flows_.due(event.node, event.at)) {
      case SharedFlows::Outcome::kOutdated:
        return false;
      case SharedFlows::Outcome::kLeft:
        note_communication(route, false);
        return false;
      case SharedFlows::Outcome::kArrived:
        return true;
      case SharedFlows::Outcome::kLeftAndArrived:
        note_communication(route, false);
        return true;
    }
    SW_CHECK(false, "an outcome that is listed");
  }

  /// Tells the devices at the ends of a route, where they care.
  void note_communication(RouteIndex route, bool begins) {
    if (!slows_) {
      return;
    }
    for (const std::int32_t device : graph_.network.ends_of(route)) {
      begins ? devices_.communication_begins(device) : devices_.communication_ends(device);
    }
  }

  const EventGraph& graph_;
  bool slows_;
  EventQueue queue_;
  SharedFlows flows_;
  SharedDevices devices_;
  std::vector<Node> nodes_;  ///< and one behind the last
  std::vector<NodeIndex> followers_;
  std::vector<std::int32_t> waits_for_;  ///< by node: so many nodes
  std::vector<NodeIndex> sources_;       ///< wait for nothing
  std::vector<NodeIndex> done_;          ///< whose followers do not know yet
  std::size_t finished_ = 0;
  EventTimes times_;
};

bool may_contend(const EventGraph& graph, const EventOptions& options) {
  for (std::size_t node = 0; node < graph.nodes(); ++node) {
    if (nature_of(graph, node, options.compute_slowdown > 1) != Nature::kPlain) {
      return true;
    }
  }
  return false;
}

EventEngine::EventEngine(const EventGraph& graph, const EventOptions& options)
    : run_(std::make_unique<Run>(graph, options)) {}

EventEngine::~EventEngine() = default;

const EventTimes& EventEngine::run(std::span<const Duration> alone) {
  return run_->run(alone);
}

Duration EventEngine::makespan(std::span<const Duration> alone) {
  return run_->makespan(alone);
}

}  // namespace stagewright
