#pragma once

#include <span>
#include <string_view>

#include "core/base/result.h"
#include "planner/schedules/generator.h"

namespace stagewright {

/// Every schedule that a plan can name, in the order in which lists show them.
[[nodiscard]] std::span<const ScheduleGenerator> schedule_generators();

/// The schedule of that name, or kNotFound with what is near.
[[nodiscard]] Result<ScheduleGenerator> find_schedule(std::string_view name);

}  // namespace stagewright
