#pragma once

#include <vector>

#include "core/base/units.h"
#include "core/plan/plan.h"
#include "runtime/profiler/profiler.h"
#include "runtime/trainer/trainer.h"
#include "sim/analysis/order_statistics.h"

namespace stagewright {

/// A plan whose step was predicted, then measured in several rounds.
struct TimedPlan {
  Plan plan;
  Duration predicted{};
  std::vector<Duration> rounds;  ///< median step of each

  [[nodiscard]] double measured() const { return to_seconds(median(rounds)); }
  [[nodiscard]] double spread() const {
    return to_seconds(half_quartile_distance(rounds)) / measured();
  }
};

/// By the virtual clock where the run had it; without the steps that a profile leaves out, too.
inline Duration median_step(const RunReport& report) {
  const Trace& trace = report.virtual_trace ? *report.virtual_trace : report.trace;
  return median(std::vector<Duration>(trace.step_times.begin() + ProfileOptions{}.warm_up,
                                      trace.step_times.end()));
}

}  // namespace stagewright
