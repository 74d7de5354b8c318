#include "planner/lower/check_order.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

std::optional<std::string_view> obstacle(const Plan& plan, const PipelineOrder& order) {
  const Result<ScheduleGenerator> generator = find_schedule(plan.schedule);
  if (generator && generator->asynchronous) {
    return "changes weights while micro-batches are under way";
  }
  if (order.placement.size() > 1) {
    return "holds two copies of the weights";
  }
  if (std::any_of(order.pairs.begin(), order.pairs.end(), [](const auto& pairs) {
        return !pairs.empty();
      })) {
    return "runs a forward and a backward together";
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_order(const Plan& plan, const PipelineOrder& order) {
  if (const auto reason = obstacle(plan, order)) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("schedule '{}' {}, which cannot be lowered to a program yet; it can be "
                    "listed, emitted and checked; '1f1b', 'interleaved-1f1b' or 'zb-h1' can be "
                    "lowered",
                    plan.schedule,
                    *reason),
        "plan:/schedule");
  }
  return {};
}

}  // namespace stagewright
