#include "planner/lower/check_order.h"

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "planner/schedules/registry.h"

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
  if (const Result<ScheduleGenerator> generator = find_schedule(plan.schedule);
      generator && generator->asynchronous) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("schedule '{}' changes weights while micro-batches are under way, which cannot "
                    "be lowered to a program yet; it can be listed, emitted and checked; '1f1b', "
                    "'interleaved-1f1b' or 'zb-h1' can be lowered",
                    plan.schedule),
        "plan:/schedule");
  }
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

}  // namespace stagewright
