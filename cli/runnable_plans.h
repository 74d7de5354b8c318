#pragma once

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"

namespace stagewright {

/// Whether `stagewright run` has devices of the cluster's types; kUnsupported with what to do else.
[[nodiscard]] Result<void> check_devices_run(const Cluster& cluster, const Plan& plan);

/// Whether `stagewright run` could train by a plan: devices, lowering, and a kernel for every
/// operation.  The error says what it lacks.
[[nodiscard]] Result<void> check_plan_runs(const ModelGraph& model,
                                           const Cluster& cluster,
                                           const Plan& plan);

}  // namespace stagewright
