#include "planner/lower/check_order.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

bool splits_backwards(const PipelineOrder& order) {
  return std::any_of(order.ranks.begin(), order.ranks.end(), [](const std::vector<Action>& rank) {
    return std::any_of(rank.begin(), rank.end(), [](const Action& action) {
      return action.kind == ActionKind::kBackwardInput ||
             action.kind == ActionKind::kBackwardWeight;
    });
  });
}

std::optional<std::string_view> obstacle(const Plan& plan, const PipelineOrder& order) {
  const Result<ScheduleGenerator> generator = find_schedule(plan.schedule);
  if (generator && generator->asynchronous) {
    return "changes weights while micro-batches are under way";
  }
  if (order.placement.size() > 1) {
    return "holds two copies of the weights";
  }
  if (static_cast<std::size_t>(order.stages) > order.ranks.size()) {
    return "puts several virtual stages on a rank";
  }
  if (std::any_of(order.pairs.begin(), order.pairs.end(), [](const auto& pairs) {
        return !pairs.empty();
      })) {
    return "runs a forward and a backward together";
  }
  if (splits_backwards(order)) {
    return "splits backwards into two halves";
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_order(const Plan& plan, const PipelineOrder& order) {
  if (const auto reason = obstacle(plan, order)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("schedule '{}' {}, which cannot be lowered to a program yet; it can be "
                            "listed, emitted and checked, and '1f1b' or 'gpipe' can be lowered",
                            plan.schedule,
                            *reason),
                "plan:/schedule");
  }
  return {};
}

}  // namespace stagewright
