#pragma once

#include <cstdint>
#include <string>

#include "core/trace/trace.h"

namespace stagewright::test {

/// A step under a named schedule of the planner: F, I, W of one second, messages of 50 ms; `copies`
/// replicas of the pipeline, which know nothing of each other.
[[nodiscard]] Trace pipeline_trace(const std::string& schedule,
                                   std::int32_t ranks,
                                   std::int32_t micro_batches,
                                   std::int32_t copies = 1);

}  // namespace stagewright::test
