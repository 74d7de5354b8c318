#pragma once

#include <vector>

#include "core/profile/profile.h"

namespace stagewright {

/// Median and half the distance of the quartiles.  REQUIRES: at least one sample.
[[nodiscard]] MeasuredTime summarize(std::vector<Duration> samples);

/// The same with the mean in the median's place, for times that add up and whose median says
/// little: the members of a collective take turns in waiting for each other.  The longest 2 % do
/// not count: those were held up by something else.  REQUIRES: at least one sample.
[[nodiscard]] MeasuredTime summarize_mean(std::vector<Duration> samples);

}  // namespace stagewright
