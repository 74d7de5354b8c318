#pragma once

#include <string_view>

#include "core/base/result.h"
#include "planner/schedules/generator.h"

namespace stagewright {

/// The frame of a schedule with one stage per rank, stage s on rank s: an order with empty action
/// lists.  Fails, naming `schedule`, where the shape has more virtual stages.
[[nodiscard]] Result<PipelineOrder> one_stage_per_rank(const PipelineShape& shape,
                                                       std::string_view schedule);

}  // namespace stagewright
