#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/cluster/cluster.h"
#include "core/schedule/schedule.h"
#include "sim/cost/schedule_geometry.h"

namespace stagewright {

/// Ranks that take the same times at every action, for certain.
struct RankClasses {
  struct Class {
    RankId first;            ///< the smallest rank stands for all
    std::int32_t ranks = 0;  ///< how many
    friend bool operator==(const Class&, const Class&) = default;
  };
  std::vector<Class> classes;          ///< ascending by `first`
  std::vector<std::int32_t> of_rank;   ///< by RankId, into `classes`
  std::vector<std::int32_t> of_group;  ///< by GroupId: groups alike have equal numbers
  std::vector<bool> in_step;  ///< by GroupId: all members are of one class and use one slot, so
                              ///< that none ever waits for another
  friend bool operator==(const RankClasses&, const RankClasses&) = default;
};

/// The coarsest division in which ranks of a class run the same program on the same type of device,
/// reach their peers and groups over equal geometry, and have peers and fellow members of the
/// same classes slot by slot (colour refinement: Paige and Tarjan 1987).  What a rank does depends
/// on nothing else, so one rank stands for its class.
/// REQUIRES: `geometry` belongs to this schedule and cluster.
[[nodiscard]] RankClasses find_rank_classes(const Schedule& schedule,
                                            const Cluster& cluster,
                                            const ScheduleGeometry& geometry);

/// Every rank and every group alone.
[[nodiscard]] RankClasses one_class_per_rank(const Schedule& schedule);

}  // namespace stagewright
