#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/schedule/schedule.h"

namespace stagewright {

/// Whether every index of a schedule lies in its table and every size is possible, so that the rest
/// of the program need not ask again:
///  - tensors, streams, slots, stages, micro-batches, buckets, programs, groups and ranks exist;
///  - a window lies inside its base, and no tensor is larger than kLargestTensor;
///  - groups have members, each once; a rank's positions are right and its groups and peers differ;
///  - counts of stages, micro-batches and replicas are borne out by lists and ranks, and every
///    program is run by some rank;
///  - an action's stage is the program's, and has the border tensors that the action moves.
/// The error's place is a JSON pointer into the schedule, appended to `where`.
[[nodiscard]] Result<void> check_indices(const Schedule& schedule, std::string_view where);

/// Beyond every device's memory, and small enough that sums over a rank do not overflow.
inline constexpr Bytes kLargestTensor{std::int64_t{1} << 44};

}  // namespace stagewright
