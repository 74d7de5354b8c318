#include "sim/analysis/event_summary.h"

#include <algorithm>
#include <cstddef>

#include "sim/analysis/summary.h"

namespace stagewright {
namespace {

std::vector<LinkLoad> loads_of(const EventGraph& graph,
                               const std::vector<Duration>& alone,
                               const EventTimes& times) {
  const LinkNetwork& network = graph.network;
  std::vector<double> bytes(network.links.size(), 0);
  for (std::size_t node = 0; node < graph.nodes(); ++node) {
    if (graph.kind[node] != EventGraph::Kind::kFlow) {
      continue;
    }
    const Route& route = network.routes[static_cast<std::size_t>(graph.place[node])];
    const Duration sending = alone[node] - std::min(route.latency, alone[node]);
    for (const LinkUse& use : network.uses_of(graph.place[node])) {
      bytes[static_cast<std::size_t>(use.link)] +=
          route.rate.count() * use.weight * to_seconds(sending);
    }
  }
  std::vector<LinkLoad> loads;
  const double seconds = to_seconds(times.makespan);
  for (std::size_t link = 0; link < bytes.size(); ++link) {
    if (bytes[link] > 0 && seconds > 0) {
      loads.push_back({.name = network.links[link].name,
                       .used = bytes[link] / (network.links[link].capacity.count() * seconds),
                       .lost = from_seconds(times.lost_seconds[link])});
    }
  }
  std::ranges::stable_sort(loads, [](const LinkLoad& a, const LinkLoad& b) {
    return a.lost != b.lost ? a.lost > b.lost : a.used > b.used;
  });
  return loads;
}

}  // namespace

EventSummary summarize_events(const EventGraph& graph,
                              const std::vector<Duration>& alone,
                              const EventTimes& times,
                              std::span<const RankId> stands_for) {
  EventSummary summary;
  summary.step_time = times.makespan;
  summary.busy.resize(static_cast<std::size_t>(graph.ranks));
  for (std::size_t node = 0; node < graph.nodes(); ++node) {
    if (graph.kind[node] == EventGraph::Kind::kCompute) {
      summary.busy[static_cast<std::size_t>(graph.rank[node])] +=
          times.end[node] - times.start[node];
    }
  }
  for (std::size_t rank = 0; rank < stands_for.size(); ++rank) {
    summary.busy[rank] = summary.busy[stands_for[rank].index()];
  }
  for (const Duration busy : summary.busy) {
    summary.bubble += bubble_share(busy, summary.step_time) / graph.ranks;
  }
  summary.links = loads_of(graph, alone, times);
  return summary;
}

}  // namespace stagewright
