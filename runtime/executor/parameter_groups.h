#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/schedule.h"
#include "runtime/compute/compute_device.h"
#include "runtime/executor/rank_plan.h"

namespace stagewright {

/// Parameters that are updated otherwise than the plan's optimizer says.
struct ParameterGroup {
  std::string names;  ///< of parameters; "*" stands for any text: "*.bias", "block.0.*"
  double rate = 1;    ///< times the optimizer's learning rate; 0 leaves the parameters as they are
  std::optional<double> weight_decay{};  ///< absent: as the plan says
  friend bool operator==(const ParameterGroup&, const ParameterGroup&) = default;
};

/// kInvalidInput for a group that no parameter of the schedule belongs to, or whose rate or weight
/// decay is negative or no number.
[[nodiscard]] Result<void> check(std::span<const ParameterGroup> groups, const Schedule& schedule);

/// By instruction: of an update, the parts of its tensor that belong to a group, ascending.  A
/// parameter belongs to the first group that names it.  Groups know nothing of how weights are
/// divided or bucketed: one update may have parts of several.
[[nodiscard]] std::vector<std::vector<UpdateRange>> update_ranges(
    const Schedule& schedule, const RankPlan& plan, std::span<const ParameterGroup> groups);

}  // namespace stagewright
