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

void add_tensor_groups(RankGroups& table, const RankGrid& grid) {
  for (std::int32_t p = 0; p < grid.size.pipeline; ++p) {
    for (std::int32_t d = 0; d < grid.size.data; ++d) {
      std::vector<RankId> members;
      members.reserve(static_cast<std::size_t>(grid.size.tensor));
      for (std::int32_t t = 0; t < grid.size.tensor; ++t) {
        members.push_back(grid.rank({.tensor = t, .data = d, .pipeline = p}));
      }
      add_group(table, "tensor", std::move(members));
    }
  }
}

void add_data_groups(RankGroups& table, const RankGrid& grid) {
  for (std::int32_t p = 0; p < grid.size.pipeline; ++p) {
    for (std::int32_t t = 0; t < grid.size.tensor; ++t) {
      std::vector<RankId> members;
      members.reserve(static_cast<std::size_t>(grid.size.data));
      for (std::int32_t d = 0; d < grid.size.data; ++d) {
        members.push_back(grid.rank({.tensor = t, .data = d, .pipeline = p}));
      }
      add_group(table, "data", std::move(members));
    }
  }
}

void add_sharing_groups(RankGroups& table, const RankGrid& grid, const WeightSharing& sharing) {
  for (std::int32_t d = 0; d < grid.size.data; ++d) {
    for (std::int32_t t = 0; t < grid.size.tensor; ++t) {
      std::vector<RankId> members;
      members.reserve(sharing.pipeline_ranks.size());
      for (const std::int32_t p : sharing.pipeline_ranks) {
        members.push_back(grid.rank({.tensor = t, .data = d, .pipeline = p}));
      }
      add_group(table, sharing.kind, std::move(members));
    }
  }
}

}  // namespace

RankGroups build_groups(const RankGrid& grid, const std::vector<WeightSharing>& sharings) {
  RankGroups table;
  table.of_rank.resize(static_cast<std::size_t>(grid.ranks()));
  table.position_of.resize(static_cast<std::size_t>(grid.ranks()));
  std::int32_t slots = 1;
  add_world(table, grid);
  if (grid.size.tensor > 1) {
    table.slots.tensor = GroupSlot(slots++);
    add_tensor_groups(table, grid);
  }
  if (grid.size.data > 1) {
    table.slots.data = GroupSlot(slots++);
    add_data_groups(table, grid);
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
