#include "sim/engine/event_engine.h"

#include <algorithm>
#include <cstddef>

#include "core/base/check.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/shared_devices.h"
#include "sim/network/shared_flows.h"

namespace stagewright {
namespace {

enum class Nature : std::uint8_t {
  kPlain,  ///< nobody can change how long it takes
  kTask,   ///< on a device where it may not have its full speed
  kFlow,   ///< over links that may fill, or seen by devices
};

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
    find_followers();
    for (std::size_t node = 0; node < graph.nodes(); ++node) {
      nature_.push_back(nature_of(graph, node, slows_));
    }
    waiting_.resize(graph.nodes());
    times_.start.resize(graph.nodes());
    times_.end.resize(graph.nodes());
    done_.reserve(graph.nodes());
  }

  const EventTimes& run(std::span<const Duration> alone) {
    SW_CHECK(alone.size() == graph_.nodes(), "a time for every node");
    alone_ = alone;
    reset();
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
    times_.makespan = Duration{};
    for (const Duration end : times_.end) {
      times_.makespan = std::max(times_.makespan, end);
    }
    times_.lost_seconds = flows_.lost_seconds();
    return times_;
  }

 private:
  void find_followers() {
    const TimingGraph& edges = graph_.graph;
    follower_begin_.assign(graph_.nodes() + 1, 0);
    for (const NodeIndex from : edges.from) {
      ++follower_begin_[static_cast<std::size_t>(from) + 1];
    }
    for (std::size_t i = 0; i < graph_.nodes(); ++i) {
      follower_begin_[i + 1] += follower_begin_[i];
    }
    followers_.resize(edges.from.size());
    std::vector<std::int32_t> next(follower_begin_.begin(), follower_begin_.end() - 1);
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

  void reset() {
    std::ranges::copy(waits_for_, waiting_.begin());
    std::ranges::fill(times_.start, Duration{});
    flows_.forget_losses();
    finished_ = 0;
  }

  /// All that the node waits for is done.
  void begin(NodeIndex node) {
    const auto i = static_cast<std::size_t>(node);
    if (nature_[i] == Nature::kPlain) {
      times_.end[i] = times_.start[i] + alone_[i];
      done_.push_back(node);
    } else {
      queue_.push({times_.start[i], node, Event::Kind::kBegin});
    }
  }

  /// Passes on that the nodes in done_ have ended.
  void follow() {
    while (!done_.empty()) {
      const auto i = static_cast<std::size_t>(done_.back());
      done_.pop_back();
      ++finished_;
      const Duration end = times_.end[i];
      const auto last = static_cast<std::size_t>(follower_begin_[i + 1]);
      for (auto f = static_cast<std::size_t>(follower_begin_[i]); f < last; ++f) {
        const NodeIndex follower = followers_[f];
        const auto to = static_cast<std::size_t>(follower);
        times_.start[to] = std::max(times_.start[to], end);
        if (--waiting_[to] == 0) {
          begin(follower);
        }
      }
    }
  }

  void handle(const Event& event) {
    const auto i = static_cast<std::size_t>(event.node);
    const bool flow = nature_[i] == Nature::kFlow;
    const std::int32_t place = graph_.place[i];
    switch (event.kind) {
      case Event::Kind::kBegin:
        if (flow) {
          flows_.begin(event.node, place, event.at, alone_[i]);
          note_communication(place, true);
        } else {
          devices_.begin(event.node, place, event.at, alone_[i]);
        }
        return;
      case Event::Kind::kDue:
        if (flow ? arrived(event, place) : devices_.done(event.node, event.at)) {
          times_.end[i] = event.at;
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
  std::vector<std::int32_t> follower_begin_;
  std::vector<NodeIndex> followers_;
  std::vector<std::int32_t> waits_for_;  ///< by node: so many nodes
  std::vector<NodeIndex> sources_;       ///< wait for nothing
  std::vector<Nature> nature_;
  std::span<const Duration> alone_;
  std::vector<std::int32_t> waiting_;  ///< by node: for so many still
  std::vector<NodeIndex> done_;        ///< whose followers do not know yet
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

}  // namespace stagewright
