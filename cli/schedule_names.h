#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "planner/schedules/generator.h"

namespace stagewright {

/// Schedules of the registry, each once, in its order.
using ChosenSchedules = std::vector<const ScheduleGenerator*>;

/// Those that the names, aliases or patterns ("zb-*", as a shell's) mean; all of them without any.
/// Fails with kNotFound where one means none, with what is near.
[[nodiscard]] Result<ChosenSchedules> choose_schedules(const std::vector<std::string>& names);

}  // namespace stagewright
