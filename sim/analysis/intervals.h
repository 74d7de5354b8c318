#pragma once

#include <vector>

#include "core/base/units.h"

namespace stagewright {

struct Interval {
  TimePoint begin;
  TimePoint end;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// The same points of time as disjoint intervals in order; empty ones vanish.
[[nodiscard]] std::vector<Interval> united(std::vector<Interval> intervals);

/// REQUIRES: disjoint.
[[nodiscard]] Duration length_of(const std::vector<Interval>& intervals);

/// How much of `intervals` lies outside `cover`.  REQUIRES: both united.
[[nodiscard]] Duration length_outside(const std::vector<Interval>& intervals,
                                      const std::vector<Interval>& cover);

}  // namespace stagewright
