#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace stagewright {

/// Half of what the clock holds, before or after zero: two such times can be added.
[[nodiscard]] bool fits_clock(TimePoint time);

/// What is wrong with an event's times, if anything: beyond the clock, or not in the order posted
/// <= ready <= start <= end.
[[nodiscard]] std::optional<std::string> complaint_about_times(const TraceEvent& event);

/// No step time is negative, and their sum fits the clock.
[[nodiscard]] Result<void> check_step_times(const Trace& trace, std::string_view where);

/// What every reader of traces makes sure of: ranks, steps and streams exist, times are in order
/// and fit the clock, an operation has both index and kind or neither, and no size or amount of
/// work is negative.  The error names the event by its position.
[[nodiscard]] Result<void> check_trace(const Trace& trace, std::string_view where);

}  // namespace stagewright
