#include "planner/explain/runner_ups.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "planner/search/dimension.h"

namespace stagewright {
namespace {

constexpr std::array kDecisions{"tp", "pp", "micro-batch", "recompute", "schedule", "zero"};
/// Several plans of a search may decide alike: 'fits' may recompute nothing, or everything.
constexpr std::int32_t kPlansLookedAt = 4;

std::string recompute_decision(const Plan& plan) {
  const StagePlan& first = plan.stages.front();
  const bool alike = std::ranges::all_of(plan.stages, [&](const StagePlan& stage) {
    return stage.recompute == first.recompute && !stage.recompute_layers;
  });
  return alike ? std::string(name_of(first.recompute)) : "fits";
}

/// Everything that the dimension can be but for one value.
std::string other_values(const Dimension& dimension, const std::string& value) {
  std::string text;
  if (dimension.names != nullptr) {
    for (const std::string_view word : dimension.words()) {
      if (word != value) {
        text += fmt::format("{}{}", text.empty() ? "" : ",", word);
      }
    }
    return text;
  }
  std::int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  if (number > dimension.least) {
    text = fmt::format("{}..{},", dimension.least, number - 1);
  }
  return text + fmt::format("{}..", number + 1);
}

RunnerUp runner_up(const ExplainJob& job,
                   const Plan& plan,
                   const Dimension& dimension,
                   const SearchControl& control) {
  const std::string name(dimension.name);
  RunnerUp result{.dimension = name, .here = *decision_of(plan, name), .plan = {}, .reason = {}};
  ExplainJob other = job;
  other.request.keep = kPlansLookedAt;
  const auto constrained =
      constrain(other.request.constraints, name, other_values(dimension, result.here));
  SW_CHECK(constrained.has_value(), "values of a dimension are constraints on it");
  const auto found = search_plans(other, control);
  if (!found) {
    result.reason = found.error().to_string();
    return result;
  }
  for (const Candidate& candidate : found->plans) {
    if (decision_of(candidate.plan, name) != result.here) {
      auto priced = price_plan(job, candidate.plan);
      if (priced) {
        result.plan = *std::move(priced);
      } else {
        result.reason = priced.error().to_string();
      }
      return result;
    }
  }
  result.reason = "no other value leaves a plan that can be lowered and fits";
  return result;
}

}  // namespace

std::optional<std::string> decision_of(const Plan& plan, std::string_view dimension) {
  const auto number = [](std::optional<std::int64_t> value) {
    return value ? std::optional(fmt::to_string(*value)) : std::nullopt;
  };
  if (dimension == "tp") {
    return number(plan.uniform_tp());
  }
  if (dimension == "pp") {
    return number(plan.pp());
  }
  if (dimension == "micro-batch") {
    return number(plan.micro_batch_size);
  }
  if (dimension == "recompute") {
    return recompute_decision(plan);
  }
  if (dimension == "schedule") {
    return plan.schedule;
  }
  if (dimension == "zero") {
    return number(plan.zero_stage);
  }
  return std::nullopt;
}

Result<std::vector<RunnerUp>> runner_ups(const ExplainJob& job,
                                         const Plan& plan,
                                         const SearchControl& control) {
  std::vector<RunnerUp> all;
  for (const char* name : kDecisions) {
    if (job.request.constraints.contains(name) || !decision_of(plan, name)) {
      continue;
    }
    const auto dimension = find_dimension(name);
    if (!dimension) {
      return tl::unexpected<Error>(dimension.error());
    }
    all.push_back(runner_up(job, plan, **dimension, control));
  }
  std::ranges::stable_sort(all, {}, [](const RunnerUp& other) {
    return other.plan ? other.plan->summary.step_time : Duration::max();
  });
  return all;
}

}  // namespace stagewright
