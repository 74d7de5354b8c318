#pragma once

#include "sim/analysis/step_work.h"
#include "sim/engine/step_graph.h"

namespace stagewright {

/// The work of a plan's step, with one rank for each class.
[[nodiscard]] StepWork work_of(const StepGraph& step, const StepTimes& times);

}  // namespace stagewright
