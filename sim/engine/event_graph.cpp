#include "sim/engine/event_graph.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace stagewright {
namespace {

/// Most that a channel puts on a link at once.
struct Demand {
  LinkIndex link = 0;
  std::int32_t channel = 0;
  double rate = 0;
};

std::vector<bool> links_that_fill(const EventGraph& graph,
                                  const std::vector<std::int32_t>& channel) {
  const LinkNetwork& network = graph.network;
  std::vector<Demand> demands;
  for (std::size_t node = 0; node < graph.nodes(); ++node) {
    if (graph.kind[node] == EventGraph::Kind::kFlow) {
      const double rate = network.routes[static_cast<std::size_t>(graph.place[node])].rate.count();
      for (const LinkUse& use : network.uses_of(graph.place[node])) {
        demands.push_back({use.link, channel[node], rate * use.weight});
      }
    }
  }
  std::ranges::sort(demands, [](const Demand& a, const Demand& b) {
    return std::tie(a.link, a.channel, b.rate) < std::tie(b.link, b.channel, a.rate);
  });
  std::vector<double> sum(network.links.size(), 0);
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const bool first = i == 0 || demands[i].link != demands[i - 1].link ||
                       demands[i].channel != demands[i - 1].channel;
    sum[static_cast<std::size_t>(demands[i].link)] += first ? demands[i].rate : 0;
  }
  std::vector<bool> fills(network.links.size());
  for (std::size_t link = 0; link < fills.size(); ++link) {
    fills[link] = sum[link] > network.links[link].capacity.count() * (1 + 1e-9);
  }
  return fills;
}

}  // namespace

void drop_free_links(EventGraph& graph, const std::vector<std::int32_t>& channel) {
  const std::vector<bool> fills = links_that_fill(graph, channel);
  std::vector<LinkUse> kept;
  for (Route& route : graph.network.routes) {
    const auto begin = graph.network.uses.begin() + route.first_use;
    route.first_use = static_cast<std::int32_t>(kept.size());
    std::copy_if(begin, begin + route.uses, std::back_inserter(kept), [&](const LinkUse& use) {
      return fills[static_cast<std::size_t>(use.link)];
    });
    route.uses = static_cast<std::int32_t>(kept.size()) - route.first_use;
  }
  graph.network.uses = std::move(kept);
}

}  // namespace stagewright
