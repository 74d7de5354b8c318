#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/profile/profile.h"
#include "core/schedule/schedule.h"
#include "core/trace/trace.h"

namespace stagewright {

/// Gathers measured times of operations and of runs of them from traces of the executor.  Runs are
/// taken from the operations that an action selects: the whole selection, and each layer's
/// contiguous part, cut at collectives.  Runs with a collective inside are left out, because what
/// they take depends on other ranks.
///
/// A run takes the time of its operations and what lies between them, without waiting for others.
class SegmentSamples {
 public:
  /// Adds the steps of a trace from `first_step` on.  REQUIRES: a measured trace of `schedule` with
  /// operation events.
  void add(const Schedule& schedule, const Trace& trace, std::int32_t first_step);

  [[nodiscard]] std::vector<MeasuredOperation> operations() const;
  [[nodiscard]] std::vector<MeasuredSegment> segments() const;

 private:
  struct Segment {
    std::string name;
    std::int32_t operations = 0;
    Bytes memory{};
    std::vector<Duration> times;
  };
  std::map<std::string, std::vector<Duration>> operations_;
  std::map<std::string, Segment> segments_;
};

}  // namespace stagewright
