#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/schedule/rank_classes.h"
#include "core/schedule/schedule.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/schedule_geometry.h"
#include "sim/engine/phase_pieces.h"

namespace stagewright {

/// Everything that the actions of a class of ranks run, priced and cut, once per distinct (kind,
/// stage or bucket).
struct ClassPhases {
  RankPlace place;
  std::vector<PhasePieces> phases;
  std::vector<std::int32_t> phase_of_action;  ///< by action, into `phases`; [0] is empty
  std::vector<bool> tracked;  ///< tensors (by id) through which pieces may wait for each other

  [[nodiscard]] const PhasePieces& of_action(std::size_t action) const {
    return phases[static_cast<std::size_t>(phase_of_action[action])];
  }
};

/// The phases of `rank`, which stands for its class.  The place refers to the cluster's device
/// type.
[[nodiscard]] ClassPhases make_class_phases(const Schedule& schedule,
                                            const Cluster& cluster,
                                            const ScheduleGeometry& geometry,
                                            const RankClasses& classes,
                                            std::size_t rank_class,
                                            const CostModel& cost);

}  // namespace stagewright
