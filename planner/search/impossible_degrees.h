#pragma once

#include <vector>

#include "planner/search/search.h"
#include "planner/search/space_job.h"

namespace stagewright {

/// Divisions of all devices that the constraints allow and the model or the batch forbids, with the
/// reason.  `common`: common_plan().
[[nodiscard]] std::vector<Rejection> impossible_degrees(const SpaceJob& job, const Plan& common);

}  // namespace stagewright
