#pragma once

#include <vector>

#include "core/base/units.h"
#include "runtime/comm/world.h"
#include "runtime/executor/host_values.h"
#include "runtime/executor/step_record.h"

namespace stagewright {

/// How far a rank's clock is ahead of rank 0's at a moment of its own.
struct ClockOffset {
  TimePoint at;
  Duration ahead{};
};

/// By what all ranks read when they hear that all have come together, the median of several times:
/// as exact as they hear of it at once.  All ranks call it; throws BackendError.
[[nodiscard]] ClockOffset measure_clock(HostValues& values, const Endpoint& endpoint);

/// Puts a rank's times on the clock of rank 0, from which its own drifts evenly.
void onto_first_clock(std::vector<StepRecord>& steps,
                      const ClockOffset& begin,
                      const ClockOffset& end);

}  // namespace stagewright
