#include "planner/lower/rank_groups.h"

#include <string>
#include <utility>

namespace stagewright {
namespace {

void add_group(RankGroups& table, std::string kind, std::vector<RankId> members) {
  const GroupId group(table.groups.size());
  for (std::size_t position = 0; position < members.size(); ++position) {
    const std::size_t rank = members[position].index();
    table.of_rank[rank].push_back(group);
    table.position_of[rank].push_back(static_cast<std::int32_t>(position));
  }
  table.groups.push_back(Group{.kind = std::move(kind), .members = std::move(members)});
}

void add_world(RankGroups& table, const RankGrid& grid) {
  std::vector<RankId> members;
  members.reserve(static_cast<std::size_t>(grid.ranks()));
  for (std::int32_t rank = 0; rank < grid.ranks(); ++rank) {
    members.emplace_back(rank);
  }
  add_group(table, "world", std::move(members));
}

/// One group for each place on the other axes.  `member` gives the coordinates of a group's i-th
/// member from those of its first.
template <class Member>
void add_groups(RankGroups& table,
                const RankGrid& grid,
                const std::string& kind,
                const RankCoordinates& first,
                std::int32_t size,
                const Member& member) {
  const std::int32_t places = first.tensor * first.context * first.data * first.pipeline;
  for (std::int32_t place = 0; place < places; ++place) {
    RankCoordinates at;
    at.tensor = place % first.tensor;
    at.context = place / first.tensor % first.context;
    at.data = place / first.tensor / first.context % first.data;
    at.pipeline = place / first.tensor / first.context / first.data;
    std::vector<RankId> members;
    members.reserve(static_cast<std::size_t>(size));
    for (std::int32_t i = 0; i < size; ++i) {
      members.push_back(grid.rank(member(at, i)));
    }
    add_group(table, kind, std::move(members));
  }
}

/// Of the ranks that differ in their place on one axis alone.
void add_axis_groups(RankGroups& table,
                     const RankGrid& grid,
                     const std::string& kind,
                     std::int32_t RankCoordinates::*axis) {
  RankCoordinates first = grid.size;
  first.*axis = 1;
  add_groups(table, grid, kind, first, grid.size.*axis, [axis](RankCoordinates at, std::int32_t i) {
    at.*axis = i;
    return at;
  });
}

/// Of the ranks that see other data, which are all parts of all replicas in a row: groups of
/// `members` of them, each `stride` places behind the one before.
void add_data_groups(RankGroups& table,
                     const RankGrid& grid,
                     const std::string& kind,
                     std::int32_t members,
                     std::int32_t stride) {
  const std::int32_t parts = grid.size.context;
  RankCoordinates first = grid.size;
  first.data = 1;
  first.context = grid.size.data * parts / members;
  add_groups(table, grid, kind, first, members, [=](RankCoordinates at, std::int32_t i) {
    const std::int32_t begin = at.context / stride * stride * members + at.context % stride;
    const std::int32_t place = begin + i * stride;
    at.data = place / parts;
    at.context = place % parts;
    return at;
  });
}

void add_sharing_groups(RankGroups& table, const RankGrid& grid, const WeightSharing& sharing) {
  RankCoordinates first = grid.size;
  first.pipeline = 1;
  add_groups(table,
             grid,
             sharing.kind,
             first,
             static_cast<std::int32_t>(sharing.pipeline_ranks.size()),
             [&sharing](RankCoordinates at, std::int32_t i) {
               at.pipeline = sharing.pipeline_ranks[static_cast<std::size_t>(i)];
               return at;
             });
}

}  // namespace

RankGroups build_groups(const RankGrid& grid,
                        std::int32_t expert_parallel,
                        const std::vector<WeightSharing>& sharings) {
  RankGroups table;
  table.of_rank.resize(static_cast<std::size_t>(grid.ranks()));
  table.position_of.resize(static_cast<std::size_t>(grid.ranks()));
  std::int32_t slots = 1;
  add_world(table, grid);
  if (grid.size.tensor > 1) {
    table.slots.tensor = GroupSlot(slots++);
    add_axis_groups(table, grid, "tensor", &RankCoordinates::tensor);
  }
  if (grid.size.context > 1) {
    table.slots.context = GroupSlot(slots++);
    add_axis_groups(table, grid, "context", &RankCoordinates::context);
  }
  const std::int32_t summed = grid.size.data * grid.size.context;
  if (summed > 1) {
    table.slots.data = GroupSlot(slots++);
    add_data_groups(table, grid, "data", summed, 1);
    table.slots.expert_replicas = table.slots.data;
  }
  if (expert_parallel > 1) {
    // Neighbours divide the experts; those in the same place among them have the same.
    table.slots.expert = GroupSlot(slots++);
    add_data_groups(table, grid, "expert", expert_parallel, 1);
    table.slots.expert_replicas.reset();
    if (summed > expert_parallel) {
      table.slots.expert_replicas = GroupSlot(slots++);
      add_data_groups(table, grid, "expert-data", summed / expert_parallel, expert_parallel);
    }
  }
  const auto ranks = static_cast<std::size_t>(grid.size.pipeline);
  table.slots.sharing.assign(ranks, std::vector<std::optional<GroupSlot>>(sharings.size()));
  std::vector<std::int32_t> next(ranks, slots);
  for (std::size_t i = 0; i < sharings.size(); ++i) {
    for (const std::int32_t p : sharings[i].pipeline_ranks) {
      const auto rank = static_cast<std::size_t>(p);
      table.slots.sharing[rank][i] = GroupSlot(next[rank]++);
    }
    add_sharing_groups(table, grid, sharings[i]);
  }
  return table;
}

}  // namespace stagewright
