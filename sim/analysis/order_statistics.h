#pragma once

#include <vector>

#include "core/base/units.h"

namespace stagewright {

/// The middle value, or the mean of the two middle ones.  REQUIRES: at least one.
[[nodiscard]] Duration median(std::vector<Duration> values);

/// Half of the distance between the quartiles (by linear interpolation between the sorted values):
/// how far repeats typically lie from the median.  Zero for a single value.  REQUIRES: at least
/// one.
[[nodiscard]] Duration half_quartile_distance(std::vector<Duration> values);

}  // namespace stagewright
