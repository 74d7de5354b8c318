#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/units.h"
#include "core/schedule/schedule.h"
#include "sim/cost/cost_model.h"

namespace stagewright::test {

/// Rank, action, operation (0 for messages).
using Place = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
/// Start and end of every operation and message, the latter under both of their sides.
using ReferenceTimes = std::map<Place, std::pair<Duration, Duration>>;

/// Rules 1 to 6 of core/schedule/semantics.h taken literally: operation by operation on every rank,
/// repeated until no time changes any more.  Slow, without pieces, classes or graphs, and so a
/// judge of the static pass.  Every operation is priced alone, messages as within a node.
[[nodiscard]] ReferenceTimes reference_times(const Schedule& schedule,
                                             const DeviceType& device,
                                             const CostModel& cost);

}  // namespace stagewright::test
