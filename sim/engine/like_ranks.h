#pragma once

#include <cstddef>

#include "core/base/ids.h"
#include "core/cluster/cluster.h"
#include "core/schedule/rank_classes.h"
#include "core/schedule/schedule.h"
#include "sim/cost/schedule_geometry.h"

namespace stagewright {

/// Classes of ranks that take the same times at every action, for certain: not only equal in what
/// they do and whom they see (classify_ranks), but also on the same type of device, with equal
/// geometry to their peers and groups.  One rank then stands for its class.
/// REQUIRES: `geometry` belongs to this schedule and cluster.
[[nodiscard]] RankClasses like_ranks(const Schedule& schedule,
                                     const Cluster& cluster,
                                     const ScheduleGeometry& geometry);

/// Every rank in a class of its own.
[[nodiscard]] RankClasses unlike_ranks(const Schedule& schedule);

/// Whether all members of the group under this slot are of the class itself, each under the same
/// slot: none of them ever waits for another.
[[nodiscard]] bool in_step(const RankClasses& classes, std::size_t rank_class, GroupSlot slot);

}  // namespace stagewright
