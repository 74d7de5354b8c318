#pragma once

#include "core/schedule/pipeline_order.h"
#include "sim/analysis/bubble_causes.h"
#include "sim/analysis/critical_path.h"
#include "sim/engine/pipeline_graph.h"

namespace stagewright {

// Of a bare order what work_of(order, graph, costs) gives, too, without that work: on the arrays of
// the static pass, for lists of hundreds of millions of actions.
// REQUIRES: `graph` is compiled; a cost for every stage and kind of action in it.

/// As bubble_causes(work); 16 bytes an action besides the graph.
[[nodiscard]] BubbleCauses bubble_causes(const PipelineGraph& graph, const PipelineCosts& costs);

/// The sums of critical_path(work); 8 bytes an action besides the graph.
[[nodiscard]] PathSums critical_path(const PipelineGraph& graph, const PipelineCosts& costs);

}  // namespace stagewright
