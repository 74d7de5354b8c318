#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
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
/// What it waits is measured at the collectives between a layer's operations that nothing hides:
/// from the turn of a member until it goes on.
class SegmentSamples {
 public:
  /// Adds the steps of a trace from `first_step` on.  REQUIRES: a measured trace of `schedule` with
  /// operation events.
  void add(const Schedule& schedule, const Trace& trace, std::int32_t first_step);

  [[nodiscard]] std::vector<MeasuredOperation> operations() const;
  [[nodiscard]] std::vector<MeasuredSegment> segments() const;
  /// Of collectives in layers, in the order of Profile::links.
  [[nodiscard]] std::vector<MeasuredLink> links() const;

 private:
  struct Segment {
    std::string name;
    std::int32_t operations = 0;
    Bytes memory{};
    std::vector<Duration> times;
  };
  std::map<std::string, std::vector<Duration>> operations_;
  std::map<std::string, Segment> segments_;
  /// By operation, members and bytes.
  std::map<std::tuple<std::string, std::int32_t, std::int64_t>, std::vector<Duration>> collectives_;
};

}  // namespace stagewright
