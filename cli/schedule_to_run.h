#pragma once

#include <string>

#include "core/base/result.h"
#include "core/schedule/schedule.h"
#include "study/plan_inputs.h"

namespace stagewright {

/// The schedule of a plan that `run` executes: lowered, or, if a file is named, the one in it,
/// which must be of the same model and layout (the order of its actions may be another).  `plan` is
/// the plan's path, for errors.
[[nodiscard]] Result<Schedule> schedule_to_run(const PlanInputs& inputs,
                                               const std::string& plan,
                                               const std::string& schedule_file);

}  // namespace stagewright
