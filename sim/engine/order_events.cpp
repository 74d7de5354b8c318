#include "sim/engine/order_events.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// Where something comes from.
struct Source {
  NodeIndex node = 0;
  std::int32_t rank = 0;
};

Duration cost_of(const PipelineCosts& costs, const Action& action) {
  const auto at = [&](const std::vector<Duration>& by_stage) {
    SW_CHECK(action.stage.index() < by_stage.size(), "a cost for every stage and kind");
    return by_stage[action.stage.index()];
  };
  switch (action.kind) {
    case ActionKind::kForward:
      return at(costs.forward);
    case ActionKind::kBackward:
      return at(costs.backward);
    case ActionKind::kBackwardInput:
      return at(costs.backward_input);
    case ActionKind::kBackwardWeight:
      return at(costs.backward_weight);
    case ActionKind::kRecompute:
      return at(costs.recompute);
    case ActionKind::kLoadMicroBatch:
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
    case ActionKind::kOptimizerStep:
      break;
  }
  SW_CHECK(false, "an action that a pipeline order may have");
}

class OrderGraph {
 public:
  OrderGraph(const PipelineOrder& order,
             const PipelineCosts& costs,
             const OrderEventOptions& options)
      : order_(order), costs_(costs), options_(options) {
    const auto places =
        static_cast<std::size_t>(order.stages) * static_cast<std::size_t>(order.micro_batches);
    forward_.resize(places);
    gradient_.resize(places);
    recompute_.resize(places);
  }

  [[nodiscard]] EventGraph run() && {
    result_.ranks = static_cast<std::int32_t>(order_.ranks.size());
    add_ports();
    add_actions();
    std::int32_t node = 0;
    for (std::size_t rank = 0; rank < order_.ranks.size(); ++rank) {
      for (std::size_t i = 0; i < order_.ranks[rank].size(); ++i, ++node) {
        if (i > 0) {
          builder_.add_edge(node - 1, node, EdgeKind::kStream);
        }
        connect(order_.ranks[rank][i], {node, static_cast<std::int32_t>(rank)});
      }
    }
    result_.graph = builder_.build().graph;
    drop_free_links(result_, channel_);
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::size_t index(std::int32_t stage, MicroBatchId m) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(order_.micro_batches) +
           m.index();
  }

  void add_ports() {
    for (std::size_t rank = 0; rank < order_.ranks.size(); ++rank) {
      const std::int32_t device = device_of(static_cast<std::int32_t>(rank));
      if (result_.ranks_on_device.size() <= static_cast<std::size_t>(device)) {
        result_.ranks_on_device.resize(static_cast<std::size_t>(device) + 1);
      }
      ++result_.ranks_on_device[static_cast<std::size_t>(device)];
      if (options_.links == OrderLinks::kPorts) {
        result_.network.add_link(fmt::format("rank {}, out", rank), BytesPerSecond(1));
        result_.network.add_link(fmt::format("rank {}, in", rank), BytesPerSecond(1));
      }
    }
  }

  [[nodiscard]] std::int32_t device_of(std::int32_t rank) const {
    return options_.device_of_rank.empty()
               ? rank
               : options_.device_of_rank[static_cast<std::size_t>(rank)];
  }

  NodeIndex add_node(EventGraph::Kind kind,
                     std::int32_t place,
                     std::int32_t rank,
                     Duration alone,
                     std::int32_t channel) {
    const NodeIndex node = builder_.add_node();
    result_.kind.push_back(kind);
    result_.place.push_back(place);
    result_.alone.push_back(alone);
    result_.rank.push_back(rank);
    result_.action.push_back(node);
    result_.first.push_back(kind == EventGraph::Kind::kCompute ? 1 : 0);
    channel_.push_back(channel);
    return node;
  }

  void add_actions() {
    for (std::size_t r = 0; r < order_.ranks.size(); ++r) {
      const auto rank = static_cast<std::int32_t>(r);
      for (const Action& action : order_.ranks[r]) {
        const NodeIndex node = add_node(
            EventGraph::Kind::kCompute, device_of(rank), rank, cost_of(costs_, action), -1);
        const std::size_t at = index(action.stage.value(), action.micro_batch);
        if (action.kind == ActionKind::kForward) {
          forward_[at] = {node, rank};
        } else if (action.kind == ActionKind::kRecompute) {
          recompute_[at] = Source{node, rank};
        } else if (action.kind != ActionKind::kBackwardWeight) {
          gradient_[at] = {node, rank};
        }
      }
    }
  }

  void connect(const Action& action, Source self) {
    const std::int32_t stage = action.stage.value();
    const std::size_t here = index(stage, action.micro_batch);
    switch (action.kind) {
      case ActionKind::kForward:
        if (stage > 0) {
          receive(forward_[index(stage - 1, action.micro_batch)], self, stage - 1);
        }
        return;
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
        builder_.add_edge(forward_[here].node, self.node, EdgeKind::kData);
        if (recompute_[here]) {
          builder_.add_edge(recompute_[here]->node, self.node, EdgeKind::kData);
        }
        if (stage + 1 < order_.stages) {
          receive(gradient_[index(stage + 1, action.micro_batch)], self, stage);
        }
        return;
      case ActionKind::kBackwardWeight:
        builder_.add_edge(gradient_[here].node, self.node, EdgeKind::kData);
        return;
      case ActionKind::kRecompute:
        builder_.add_edge(forward_[here].node, self.node, EdgeKind::kData);
        return;
      case ActionKind::kLoadMicroBatch:
      case ActionKind::kSendActivation:
      case ActionKind::kRecvActivation:
      case ActionKind::kSendGradient:
      case ActionKind::kRecvGradient:
      case ActionKind::kReduceGradients:
      case ActionKind::kGatherParameters:
      case ActionKind::kOptimizerStep:
        break;
    }
    SW_CHECK(false, "an action that a pipeline order may have");
  }

  /// Over the border between stages `border` and `border` + 1, where they lie on different ranks.
  void receive(Source from, Source to, std::int32_t border) {
    if (from.rank == to.rank) {
      builder_.add_edge(from.node, to.node, EdgeKind::kData);
      return;
    }
    const std::vector<Duration>& times = costs_.transfer;
    const Duration time = times.empty() ? Duration{} : times[static_cast<std::size_t>(border)];
    const RouteIndex route = route_between(from.rank, to.rank);
    // Every message is a channel of its own: nothing here holds one up until another is through.
    const NodeIndex message = add_node(EventGraph::Kind::kFlow,
                                       route,
                                       from.rank,
                                       time,
                                       static_cast<std::int32_t>(result_.nodes()));
    builder_.add_edge(from.node, message, EdgeKind::kData);
    builder_.add_edge(message, to.node, EdgeKind::kData);
  }

  RouteIndex route_between(std::int32_t from, std::int32_t to) {
    const auto [found, is_new] = routes_.try_emplace({from, to}, 0);
    if (is_new) {
      std::vector<LinkUse> uses;
      if (options_.links == OrderLinks::kPorts) {
        uses = {{.link = 2 * from, .weight = 1}, {.link = 2 * to + 1, .weight = 1}};
      }
      const std::int32_t ends[] = {device_of(from), device_of(to)};
      found->second = result_.network.add_route(BytesPerSecond(1), {}, uses, ends);
    }
    return found->second;
  }

  const PipelineOrder& order_;
  const PipelineCosts& costs_;
  const OrderEventOptions& options_;
  TimingGraphBuilder builder_;
  std::vector<Source> forward_;
  std::vector<Source> gradient_;  ///< for the input
  std::vector<std::optional<Source>> recompute_;
  std::map<std::pair<std::int32_t, std::int32_t>, RouteIndex> routes_;
  std::vector<std::int32_t> channel_;
  EventGraph result_;
};

}  // namespace

Result<EventGraph> order_events(const PipelineOrder& order,
                                const PipelineCosts& costs,
                                const OrderEventOptions& options) {
  if (auto timer = PipelineTimer::make(order); !timer) {
    return pass_on(std::move(timer));
  }
  return OrderGraph(order, costs, options).run();
}

}  // namespace stagewright
