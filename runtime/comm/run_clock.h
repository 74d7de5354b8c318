#pragma once

#include <chrono>

#include "core/base/units.h"

namespace stagewright {

/// Time since the start of a run, the time base of measured traces.  One per run, shared
/// by all its ranks and by whatever else stamps times (a copy has the same start).
class RunClock {
 public:
  [[nodiscard]] TimePoint now() const {
    return TimePoint(std::chrono::duration_cast<Duration>(Host::now() - start_));
  }

 private:
  using Host = std::chrono::steady_clock;
  Host::time_point start_ = Host::now();
};

}  // namespace stagewright
