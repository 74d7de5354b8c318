#pragma once

#include "core/cluster/cluster.h"
#include "core/schedule/schedule.h"
#include "sim/cost/phase_price.h"
#include "sim/cost/schedule_geometry.h"

namespace stagewright {

/// Completes a place, whose device and groups are known, with how programs run on it: the rules of
/// the cost model, stragglers by the nodes in use, and what computation hides of each bucket's
/// traffic:
///
///   once a step       min(hidden share of all buckets, one backward of all stages of the rank)
///                     (gathers: half of one)
///   per micro-batch   hidden share of the smaller of the step's traffic and computation, which
///                     slows down meanwhile
void apply_rules(const Schedule& schedule,
                 const Cluster& cluster,
                 const ScheduleGeometry& geometry,
                 RankId rank,
                 const CostModel& cost,
                 RankPlace& place);

}  // namespace stagewright
