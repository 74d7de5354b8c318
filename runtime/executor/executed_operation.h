#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/model/op.h"
#include "core/schedule/action.h"
#include "core/schedule/operation.h"
#include "core/schedule/schedule.h"
#include "runtime/executor/rank_plan.h"

namespace stagewright {

/// An entry of the log of what a rank really ran.
struct ExecutedOperation {
  StreamId stream;  ///< of the schedule; transfers stand behind those, as in a trace
  ActionKind action = ActionKind::kForward;
  std::int32_t action_index = 0;
  std::optional<std::int32_t> op_index;  ///< absent for transfers and loads
  std::optional<OpKind> kind;
  OpShape shape;
  Bytes bytes{};
  std::vector<RankId> group;  ///< members, of a collective; the peer, of a transfer
  friend bool operator==(const ExecutedOperation&, const ExecutedOperation&) = default;
};

/// The log of one step: by lane (the compute stream first), in the order of each.
[[nodiscard]] std::vector<ExecutedOperation> executed_operations(
    const Schedule& schedule,
    const RankPlan& plan,
    std::span<const std::vector<std::int32_t>> lane_logs);

}  // namespace stagewright
