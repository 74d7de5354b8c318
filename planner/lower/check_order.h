#pragma once

#include "core/base/result.h"
#include "core/plan/plan.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

/// Pass: whether the passes after it can lower the order.  Runs right after the order is generated.
/// kUnsupported, naming the schedule and what of it cannot be lowered: two copies of the weights,
/// overlapped pairs, weights that change while micro-batches are under way.
[[nodiscard]] Result<void> check_order(const Plan& plan, const PipelineOrder& order);

}  // namespace stagewright
