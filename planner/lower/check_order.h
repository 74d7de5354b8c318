#pragma once

#include "core/base/result.h"
#include "core/plan/plan.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

/// Pass: whether the passes after it can lower the order.  Runs right after the order is generated.
/// kUnsupported, naming the schedule, where weights change while micro-batches are under way;
/// kInfeasible where one rank would hold two copies of a stage.
[[nodiscard]] Result<void> check_order(const Plan& plan, const PipelineOrder& order);

}  // namespace stagewright
