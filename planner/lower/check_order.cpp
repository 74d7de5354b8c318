#include "planner/lower/check_order.h"

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace stagewright {
namespace {

/// A stage of which some rank holds two copies.
std::optional<std::size_t> doubled_stage(const PipelineOrder& order) {
  for (std::size_t stage = 0; stage < static_cast<std::size_t>(order.stages); ++stage) {
    std::set<std::int32_t> ranks;
    for (const std::vector<std::int32_t>& copy : order.placement) {
      if (!ranks.insert(copy[stage]).second) {
        return stage;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_order(const Plan& plan, const PipelineOrder& order) {
  if (const auto stage = doubled_stage(order)) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format("schedule '{}' puts two copies of stage {} on one rank; each copy needs "
                    "a rank of its own",
                    plan.schedule,
                    *stage),
        "plan:/schedule");
  }
  return {};
}

Result<void> check_updates(const Plan& plan,
                           const PipelineOrder& order,
                           const SharedWeights& shared) {
  if (!order.updates) {
    return {};
  }
  if (plan.optimizer.clip_norm) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("clip_norm is {}, but under schedule '{}' stages change their weights "
                            "at different times, when no norm of the whole gradient is known; set "
                            "it to null",
                            *plan.optimizer.clip_norm,
                            plan.schedule),
                "plan:/optimizer/clip_norm");
  }
  if (!shared.sharings.empty()) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format("model '{}' has a tied weight on several pipeline ranks, which change "
                    "their weights at different times under schedule '{}'; untie it, or use "
                    "a schedule with a flush, such as '1f1b'",
                    plan.model,
                    plan.schedule),
        "plan:/schedule");
  }
  return {};
}

}  // namespace stagewright
