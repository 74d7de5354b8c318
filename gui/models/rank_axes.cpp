#include "gui/models/rank_axes.h"

#include <algorithm>
#include <limits>
#include <map>

namespace stagewright::gui {
namespace {

void keep_if_it_divides(RankAxis axis, RankAxes& axes) {
  const auto [least, most] = std::ranges::minmax_element(axis.position);
  if (least != axis.position.end() && *least != *most) {
    axes.push_back(std::move(axis));
  }
}

}  // namespace

RankAxes axes_of(const ActionStore& store) {
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
  RankAxis stage{
      .name = "stage",
      .position = std::vector<std::int32_t>(static_cast<std::size_t>(store.ranks), kNone)};
  for (const Lane& lane : store.lanes) {
    std::int32_t& lowest = stage.position[lane.rank.index()];
    for (ActionIndex i = lane.begin; i < lane.end; ++i) {
      if (is_compute(store.kind[i])) {
        lowest = std::min(lowest, store.stage[i]);
      }
    }
  }
  std::ranges::replace(stage.position, kNone, 0);
  RankAxes axes;
  keep_if_it_divides(std::move(stage), axes);
  return axes;
}

RankAxes axes_of(const ActionStore& store, const Schedule& schedule, const Cluster& cluster) {
  RankAxes axes = axes_of(store);
  std::map<std::string, std::vector<std::int32_t>> by_kind;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const RankBinding& binding = schedule.ranks[rank];
    for (std::size_t slot = 0; slot < binding.groups.size(); ++slot) {
      const Group& group = schedule.groups[binding.groups[slot].index()];
      auto& positions = by_kind[group.kind];
      positions.resize(schedule.ranks.size());
      positions[rank] = binding.positions[slot];
    }
  }
  for (auto& [kind, positions] : by_kind) {
    // A group of all ranks would put each of them into a group of its own.
    if (positions.size() != 1 &&
        static_cast<std::size_t>(*std::ranges::max_element(positions)) + 1 < positions.size()) {
      keep_if_it_divides({.name = kind, .position = std::move(positions)}, axes);
    }
  }
  const std::vector<NodeId> nodes = cluster.node_table();
  RankAxis node{.name = "node", .position = {}};
  for (const RankBinding& binding : schedule.ranks) {
    node.position.push_back(
        binding.device.index() < nodes.size() ? nodes[binding.device.index()].value() : 0);
  }
  keep_if_it_divides(std::move(node), axes);
  return axes;
}

}  // namespace stagewright::gui
