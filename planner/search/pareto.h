#pragma once

#include <vector>

#include "planner/search/search.h"

namespace stagewright {

/// Those that no other beats in step time, memory and devices at once (beats()), fastest first.
[[nodiscard]] std::vector<Candidate> pareto_front(const std::vector<Candidate>& all);

}  // namespace stagewright
