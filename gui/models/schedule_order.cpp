#include "gui/models/schedule_order.h"

#include <algorithm>
#include <set>
#include <vector>

namespace stagewright::gui {
namespace {

std::set<RankId> pipeline_of_rank_0(const Schedule& schedule) {
  std::set<RankId> seen{RankId(0)};
  std::vector<RankId> open{RankId(0)};
  while (!open.empty()) {
    const RankBinding& binding = schedule.ranks[open.back().index()];
    open.pop_back();
    for (const RankId peer : binding.peers) {
      if (seen.insert(peer).second) {
        open.push_back(peer);
      }
    }
  }
  return seen;
}

/// A copy for every distinct way in which micro-batches go through the ranks.
void place_copies(TokenList& list) {
  const auto stages = static_cast<std::size_t>(list.stages);
  std::vector<std::vector<std::int32_t>> ways(static_cast<std::size_t>(list.micro_batches),
                                              std::vector<std::int32_t>(stages, 0));
  for (std::size_t rank = 0; rank < list.ranks.size(); ++rank) {
    for (const ListItem& item : list.ranks[rank]) {
      for (const Action& action : item.actions) {
        ways[action.micro_batch.index()][action.stage.index()] = static_cast<std::int32_t>(rank);
      }
    }
  }
  for (const auto& way : ways) {
    const auto found = std::ranges::find(list.placement, way);
    list.copy_of.push_back(static_cast<std::int32_t>(found - list.placement.begin()));
    if (found == list.placement.end()) {
      list.placement.push_back(way);
    }
  }
}

}  // namespace

TokenList compute_order(const Schedule& schedule) {
  TokenList list{.stages = schedule.stages, .micro_batches = schedule.micro_batches};
  for (const RankId rank : pipeline_of_rank_0(schedule)) {
    std::vector<ListItem>& items = list.ranks.emplace_back();
    for (const Action& action :
         schedule.programs[schedule.ranks[rank.index()].program.index()].actions) {
      if (is_compute(action.kind)) {
        Action plain{.kind = action.kind, .stage = action.stage, .micro_batch = action.micro_batch};
        items.push_back({.kind = ListItemKind::kCompute, .actions = {plain}});
      }
    }
  }
  place_copies(list);
  return list;
}

}  // namespace stagewright::gui
