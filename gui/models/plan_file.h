#pragma once

#include <string>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "study/plan_inputs.h"

namespace stagewright::gui {

/// Writes a plan so that it can be read elsewhere.  Where the plan's name for its cluster does not
/// stand for the cluster that it was made for, as with links that a form changed, that is written
/// beside it ("x.plan.json" and "x.cluster.json") and named by the plan.
[[nodiscard]] Result<void> save_plan_file(const DataFiles& files,
                                          const PlanInputs& inputs,
                                          const std::string& path);

}  // namespace stagewright::gui
