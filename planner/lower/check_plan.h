#pragma once

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"

namespace stagewright {

/// Pass: everything about a plan that can be said without its schedule.  Runs first; all passes
/// after it may rely on positive sizes, uniform degrees, stages that cover the model's layers in
/// order, a tensor degree that divides the model, devices that exist.  The error names the key in
/// the plan, its value and what would do.
[[nodiscard]] Result<void> check_plan(const ModelGraph& model,
                                      const Cluster& cluster,
                                      const Plan& plan);

}  // namespace stagewright
