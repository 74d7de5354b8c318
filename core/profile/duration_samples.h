#pragma once

#include <vector>

#include "core/profile/profile.h"

namespace stagewright {

/// Median and half the distance of the quartiles.  REQUIRES: at least one sample.
[[nodiscard]] MeasuredTime summarize(std::vector<Duration> samples);

}  // namespace stagewright
