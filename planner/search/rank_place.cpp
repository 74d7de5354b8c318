#include "planner/search/rank_place.h"

#include <cstddef>
#include <utility>

#include "sim/cost/rank_rules.h"
#include "sim/cost/schedule_geometry.h"

namespace stagewright {

Result<RankPlace> place_of(const Schedule& schedule,
                           const Cluster& cluster,
                           RankId rank,
                           const CostModel& cost) {
  auto geometry = schedule_geometry(schedule, cluster);
  if (!geometry) {
    return pass_on(std::move(geometry));
  }
  const RankBinding& binding = schedule.ranks[rank.index()];
  RankPlace place;
  place.device = &cluster.type_of(binding.device);
  for (const GroupId group : binding.groups) {
    const auto distinct = static_cast<std::size_t>(geometry->of_group[group.index()]);
    place.groups.push_back(geometry->distinct[distinct]);
    place.group_kinds.push_back(schedule.groups[group.index()].kind);
  }
  apply_rules(schedule, cluster, *geometry, rank, cost, place);
  return place;
}

}  // namespace stagewright
