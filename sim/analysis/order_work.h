#pragma once

#include <span>

#include "core/base/units.h"
#include "core/schedule/pipeline_order.h"
#include "sim/analysis/step_work.h"
#include "sim/engine/pipeline_graph.h"

namespace stagewright {

/// What a class of work is.  REQUIRES: it is no join.
[[nodiscard]] WorkKind kind_of(const PipelineWork& work);

/// The work of a bare order under costs by stage.  REQUIRES: `graph` is compile(order).
[[nodiscard]] StepWork work_of(const PipelineOrder& order,
                               const PipelineGraph& graph,
                               const PipelineCosts& costs);
/// The same with lags by class of work and durations by index, as `sweep` takes them.
[[nodiscard]] StepWork work_of(const PipelineOrder& order,
                               const PipelineGraph& graph,
                               std::span<const Duration> lags,
                               std::span<const Duration> durations);

}  // namespace stagewright
