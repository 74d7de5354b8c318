#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace stagewright {

/// What every reader of traces makes sure of: ranks, steps and streams exist, posted <= ready <=
/// start <= end, an operation has both index and kind or neither, and no size or amount of work is
/// negative.  The error names the event by its position.
[[nodiscard]] Result<void> check_trace(const Trace& trace, std::string_view where);

}  // namespace stagewright
