#pragma once

#include "planner/search/space.h"

namespace stagewright {

/// Why no point satisfies the constraints: which of them stand in the way, and the nearest values
/// that would do.  REQUIRES: the space has no point.
[[nodiscard]] Error explain_empty_space(const SpaceJob& job);

}  // namespace stagewright
