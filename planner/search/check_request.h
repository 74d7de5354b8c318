#pragma once

#include "core/base/result.h"
#include "planner/search/search.h"

namespace stagewright {

/// kInvalidInput where a size, share or objective of the request cannot be.
[[nodiscard]] Result<void> check_request(const SearchRequest& request);

}  // namespace stagewright
