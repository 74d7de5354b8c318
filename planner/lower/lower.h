#pragma once

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/schedule/pipeline_order.h"
#include "core/schedule/schedule.h"
#include "planner/lower/repeat_rules.h"

namespace stagewright {

/// Turns a plan into what every rank does: the passes, in order, stand in lower.cpp.
/// Fails with kInfeasible or kInvalidInput, naming the plan's field, its value and values that
/// would do: heads not divisible by tp, fewer layers than stages, layers lost or doubled, more
/// devices than the cluster has, a plan made for another model (hash), a schedule that does not
/// exist or whose constraint is broken.  kUnsupported for what the plan format can say and lowering
/// cannot do yet.
[[nodiscard]] Result<Schedule> lower(const ModelGraph& model,
                                     const Cluster& cluster,
                                     const Plan& plan,
                                     const RepeatRules& repeats = {});

/// The same for a list that is priced and forgotten: the model's hash is neither held against the
/// plan's nor written.
[[nodiscard]] Result<Schedule> lower_to_price(const ModelGraph& model,
                                              const Cluster& cluster,
                                              Plan plan,
                                              const RepeatRules& repeats = {});

/// lower() with an order of its own, imported or searched for, instead of the plan's schedule,
/// whose name it keeps.  Recomputations that stand in the order stay where they are.  kInfeasible
/// where it does not fit the plan's sizes; that it runs everything once is the work of validate().
[[nodiscard]] Result<Schedule> lower(const ModelGraph& model,
                                     const Cluster& cluster,
                                     const Plan& plan,
                                     PipelineOrder order,
                                     const RepeatRules& repeats = {});

}  // namespace stagewright
