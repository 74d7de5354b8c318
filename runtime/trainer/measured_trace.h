#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/schedule/schedule.h"
#include "core/trace/trace.h"
#include "runtime/executor/rank_executor.h"
#include "runtime/executor/step_record.h"

namespace stagewright {

/// What one rank leaves behind.
struct RankMeasurements {
  const RankPlan* plan = nullptr;
  std::vector<StepRecord> steps;  ///< all that ran; those not traced without times and memory
  std::vector<StepTotals> totals;
};

/// Puts the ranks' records together.  A step begins when its first rank begins.  `clock` is what
/// their times were taken with (Trace::clock).
/// REQUIRES: the ranks in order, with equally many steps.
[[nodiscard]] Trace measured_trace(const Schedule& schedule,
                                   std::span<const RankMeasurements> ranks,
                                   std::string_view clock);

}  // namespace stagewright
