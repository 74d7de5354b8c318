#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "planner/search/search.h"
#include "planner/search/walk.h"

namespace stagewright {

/// kInfeasible for a search whose space has points, none of which can be used: the point that
/// misses the memory by least, or else a rejected one, or else why layers had no price.
[[nodiscard]] Error nothing_fits(const WalkJob& job,
                                 const SearchResult& result,
                                 const std::optional<Leaf>& nearest_miss,
                                 const std::optional<std::string>& without_price);

}  // namespace stagewright
