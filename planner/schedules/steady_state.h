#pragma once

#include "core/base/result.h"
#include "planner/schedules/generator.h"
#include "sim/engine/pipeline_timing.h"

namespace stagewright {

/// What `shape.micro_batches` take in the long run of an asynchronous schedule, whose stretches
/// follow each other without a drain: a long stretch less a shorter one, which fill and drain
/// alike.  Both are so long that every rank has settled, and differ by a multiple of the ranks,
/// after which times repeat where transfers are on the critical path.
/// REQUIRES: generator.asynchronous; the shape is one that it accepts; a cost for every stage.
[[nodiscard]] Result<Duration> steady_time(const ScheduleGenerator& generator,
                                           const PipelineShape& shape,
                                           const PipelineCosts& costs);

}  // namespace stagewright
