#pragma once

#include "core/schedule/schedule.h"
#include "core/trace/trace.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/schedule_events.h"

namespace stagewright {

/// A step of the event engine as a trace: an event for every action that takes part in it, from the
/// start of its first node to the end of its last one.  Streams are those of predicted_trace(); an
/// action counts as posted and ready when it starts, and memory is left out, because it depends on
/// the order alone (predicted_trace has it).  With `all_ranks` a rank that another one stands for
/// has that one's events, else none.
[[nodiscard]] Trace event_trace(const Schedule& schedule,
                                const ScheduleEvents& events,
                                const EventTimes& times,
                                bool all_ranks);

}  // namespace stagewright
