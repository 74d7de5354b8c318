#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/schedule/schedule.h"
#include "planner/lower/rank_grid.h"

namespace stagewright {

/// Which slot of RankBinding::groups is which group: the same in every program.
struct GroupSlots {
  GroupSlot world{0};
  std::optional<GroupSlot> tensor;
  std::optional<GroupSlot> data;
  std::optional<GroupSlot> tie;  ///< only of ranks that hold a copy of the tied weight
  friend bool operator==(const GroupSlots&, const GroupSlots&) = default;
};

/// The groups of all ranks and where each rank stands in them.
struct RankGroups {
  GroupSlots slots;
  std::vector<Group> groups;
  std::vector<std::vector<GroupId>> of_rank;           ///< by rank, then slot
  std::vector<std::vector<std::int32_t>> position_of;  ///< by rank, then slot
};

/// Pass: the "world", and for degrees above one "tensor" groups (ranks of one stage and replica),
/// "data" groups (same stage and tensor index), and "tie" groups over the given pipeline ranks
/// (same replica and tensor index).  Members ascend along the axis; groups come in this order,
/// which is the order in which communicators are made.
[[nodiscard]] RankGroups build_groups(const RankGrid& grid,
                                      const std::vector<std::int32_t>& tied_pipeline_ranks);

}  // namespace stagewright
