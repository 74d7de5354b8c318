#pragma once

#include "core/base/result.h"
#include "core/schedule/schedule.h"
#include "runtime/compute/compute_device.h"
#include "runtime/executor/rank_plan.h"

namespace stagewright {

/// The plan of one rank, all of whose operations `device` has kernels for.  It refers to
/// `schedule`, which must outlive it.  kUnsupported, naming rank and operation, for what cannot
/// run.  REQUIRES: validate(schedule).
[[nodiscard]] Result<RankPlan> runnable_rank(const Schedule& schedule,
                                             RankId rank,
                                             const ComputeDevice& device);

/// Whether all ranks can run on such a device: the first that cannot, as runnable_rank() says it.
/// Ranks with the same program are looked at once.
[[nodiscard]] Result<void> check_runnable(const Schedule& schedule, const ComputeDevice& device);

}  // namespace stagewright
