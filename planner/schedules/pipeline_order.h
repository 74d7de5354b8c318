#pragma once

#include "core/base/result.h"
#include "core/plan/plan.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

/// The order of all micro-batches of a plan: one flush as the plan's schedule generates it,
/// repeated for each flush.  Fails on an unknown schedule or parameter, and where the schedule's
/// rules do not allow the plan's sizes.  REQUIRES: stages, virtual_stages, micro_batches and
/// flushes that divide without rest.
[[nodiscard]] Result<PipelineOrder> pipeline_order(const Plan& plan);

}  // namespace stagewright
