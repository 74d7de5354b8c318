#pragma once

#include "core/base/result.h"
#include "core/plan/plan.h"
#include "core/schedule/pipeline_order.h"
#include "planner/lower/shared_weights.h"

namespace stagewright {

/// Pass: whether the passes after it can lower the order.  Runs right after the order is generated.
/// kInfeasible, naming what is wrong, where it does not fit the plan's sizes, runs a stage
/// elsewhere than it places it, or puts two copies of a stage on one rank.
[[nodiscard]] Result<void> check_order(const Plan& plan, const PipelineOrder& order);

/// Pass: whether weights can change as an asynchronous order wants it.  kInfeasible where the plan
/// clips by the global norm or the model ties weights of different pipeline ranks.
[[nodiscard]] Result<void> check_updates(const Plan& plan,
                                         const PipelineOrder& order,
                                         const SharedWeights& shared);

}  // namespace stagewright
