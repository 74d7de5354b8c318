#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/schedule/schedule.h"
#include "planner/lower/rank_grid.h"
#include "planner/lower/shared_weights.h"

namespace stagewright {

/// Which slot of RankBinding::groups is which group.
struct GroupSlots {
  GroupSlot world{0};
  std::optional<GroupSlot> tensor;
  std::optional<GroupSlot> context;
  std::optional<GroupSlot> data;
  std::optional<GroupSlot> expert;
  std::optional<GroupSlot> expert_replicas;  ///< without expert parallelism that of the data
  /// By pipeline rank and sharing: present where the rank takes part.
  std::vector<std::vector<std::optional<GroupSlot>>> sharing;
  friend bool operator==(const GroupSlots&, const GroupSlots&) = default;
};

/// The groups of all ranks and where each rank stands in them.
struct RankGroups {
  GroupSlots slots;
  std::vector<Group> groups;
  std::vector<std::vector<GroupId>> of_rank;           ///< by rank, then slot
  std::vector<std::vector<std::int32_t>> position_of;  ///< by rank, then slot
};

/// Pass: the "world", and for degrees above one "tensor" groups (ranks of one stage, replica and
/// part of the sequences), "context" groups (the parts; same stage, replica and tensor index),
/// "data" groups (all parts of all replicas; same stage and tensor index), where experts are
/// divided "expert" groups (neighbours in a data group) and "expert-data" groups (the same
/// experts), and for each sharing of weights groups over its pipeline ranks (same on the other
/// axes).  Members ascend along the axis; groups come in this order, which is the order in which
/// communicators are made.
[[nodiscard]] RankGroups build_groups(const RankGrid& grid,
                                      std::int32_t expert_parallel,
                                      const std::vector<WeightSharing>& sharings);

}  // namespace stagewright
