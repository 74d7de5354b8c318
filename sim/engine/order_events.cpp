#include "sim/engine/order_events.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "sim/engine/order_index.h"

namespace stagewright {
namespace {

class OrderGraph {
 public:
  /// `index` is filled, `durations` are by action.
  OrderGraph(const PipelineOrder& order,
             const OrderIndex& index,
             const PipelineCosts& costs,
             std::vector<Duration> durations,
             const OrderEventOptions& options)
      : order_(order),
        index_(index),
        costs_(costs),
        durations_(std::move(durations)),
        options_(options) {}

  [[nodiscard]] EventGraph run() && {
    result_.ranks = static_cast<std::int32_t>(order_.ranks.size());
    for (std::int32_t rank = 0; rank < result_.ranks; ++rank) {
      add_rank(rank);
    }
    for (std::int32_t rank = 0; rank < result_.ranks; ++rank) {
      connect_rank(rank);
    }
    result_.graph = std::move(builder_).build().graph;
    drop_free_links(result_, channel_);
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::int32_t device_of(std::int32_t rank) const {
    return options_.device_of_rank.empty()
               ? rank
               : options_.device_of_rank[static_cast<std::size_t>(rank)];
  }

  /// Device, ports and actions.
  void add_rank(std::int32_t rank) {
    const auto device = static_cast<std::size_t>(device_of(rank));
    result_.ranks_on_device.resize(std::max(result_.ranks_on_device.size(), device + 1));
    ++result_.ranks_on_device[device];
    if (options_.links == OrderLinks::kPorts) {
      result_.network.add_link(fmt::format("rank {}, out", rank), BytesPerSecond(1));
      result_.network.add_link(fmt::format("rank {}, in", rank), BytesPerSecond(1));
    }
    const auto r = static_cast<std::size_t>(rank);
    for (std::size_t i = 0; i < order_.ranks[r].size(); ++i) {
      // The second of a pair stands behind the first, which takes the time of both.
      if (i > 0 && is_pair(r, i - 1)) {
        add_node(EventGraph::Kind::kDelay, 0, rank, {});
      } else {
        const std::size_t action = static_cast<std::size_t>(index_.rank_begin()[r]) + i;
        add_node(EventGraph::Kind::kCompute, device_of(rank), rank, durations_[action]);
      }
    }
  }

  NodeIndex add_node(EventGraph::Kind kind, std::int32_t place, std::int32_t rank, Duration alone) {
    const NodeIndex node = builder_.add_node();
    result_.kind.push_back(kind);
    result_.place.push_back(place);
    result_.alone.push_back(alone);
    result_.rank.push_back(rank);
    result_.action.push_back(node);
    result_.first.push_back(kind == EventGraph::Kind::kCompute ? 1 : 0);
    // Every message is a channel of its own: nothing holds one up until another is through.
    channel_.push_back(node);
    return node;
  }

  [[nodiscard]] bool is_pair(std::size_t rank, std::size_t i) const {
    return !order_.pairs.empty() &&
           std::ranges::binary_search(order_.pairs[rank], static_cast<std::int32_t>(i));
  }

  void connect_rank(std::int32_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    const NodeIndex begin = index_.rank_begin()[r];
    if (!costs_.late.empty() && costs_.late[r] > Duration{} && !order_.ranks[r].empty()) {
      const NodeIndex late = add_node(EventGraph::Kind::kDelay, 0, rank, costs_.late[r]);
      builder_.add_edge(late, begin, EdgeKind::kStream);
    }
    for (std::size_t i = 0; i < order_.ranks[r].size(); ++i) {
      const NodeIndex node = begin + static_cast<NodeIndex>(i);
      const bool second = i > 0 && is_pair(r, i - 1);
      if (i > 0) {
        builder_.add_edge(node - 1, node, EdgeKind::kStream);
      }
      const OrderIndex::Needs needs = index_.needs_of(order_.ranks[r][i]);
      for (std::size_t n = 0; n < needs.count; ++n) {
        receive(needs.all[n], second ? node - 1 : node, rank);
      }
    }
  }

  void receive(const OrderIndex::Need& need, NodeIndex to, std::int32_t rank) {
    const NodeIndex from = need.from->action;
    if (!need.border || need.from->rank == rank) {
      builder_.add_edge(from, to, EdgeKind::kData);
      return;
    }
    const std::vector<Duration>& times = costs_.transfer;
    const NodeIndex message = add_node(EventGraph::Kind::kFlow,
                                       route_between(need.from->rank, rank),
                                       need.from->rank,
                                       times.empty() ? Duration{} : times[need.border->index()]);
    builder_.add_edge(from, message, EdgeKind::kData);
    builder_.add_edge(message, to, EdgeKind::kData);
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
  const OrderIndex& index_;
  const PipelineCosts& costs_;
  std::vector<Duration> durations_;
  const OrderEventOptions& options_;
  TimingGraphBuilder builder_;
  std::map<std::pair<std::int32_t, std::int32_t>, RouteIndex> routes_;
  std::vector<std::int32_t> channel_;
  EventGraph result_;
};

/// By action; the first of a pair has the time of both.
std::vector<Duration> durations_of(const PipelineGraph& graph, const PipelineCosts& costs) {
  std::vector<Duration> prices;
  price(graph, costs, prices);
  std::vector<Duration> durations;
  for (const SweepIndex index : graph.index) {
    durations.push_back(prices[graph.graph.work[static_cast<std::size_t>(index)]]);
  }
  return durations;
}

}  // namespace

Result<EventGraph> order_events(const PipelineOrder& order,
                                const PipelineCosts& costs,
                                const OrderEventOptions& options) {
  auto compiled = compile(order);
  if (!compiled) {
    return pass_on(std::move(compiled));
  }
  OrderIndex index(order);
  const auto filled = index.fill();
  SW_CHECK(filled.has_value(), "an order that compiles");
  return OrderGraph(order, index, costs, durations_of(*compiled, costs), options).run();
}

}  // namespace stagewright
