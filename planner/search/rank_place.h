#pragma once

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/schedule/schedule.h"
#include "sim/cost/phase_price.h"

namespace stagewright {

/// What prices on a rank of a lowered plan depend on.  The place refers to the cluster's device
/// type.  Fails as schedule_geometry() does.
[[nodiscard]] Result<RankPlace> place_of(const Schedule& schedule,
                                         const Cluster& cluster,
                                         RankId rank,
                                         const CostModel& cost);

}  // namespace stagewright
