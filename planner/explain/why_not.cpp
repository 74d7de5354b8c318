#include "planner/explain/why_not.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

std::vector<Relaxation> relaxations_of(const ExplainJob& job,
                                       const Constraints& asked,
                                       const SearchControl& control) {
  std::vector<Relaxation> found;
  if (asked.size() < 2 && job.request.constraints.size() == asked.size()) {
    return found;  // without it nothing is asked
  }
  for (const auto& [name, values] : asked) {
    ExplainJob without = job;
    without.request.constraints.erase(name);
    if (auto best = best_plan(without, control)) {
      found.push_back({fmt::format("{}={}", name, values.text()), *std::move(best)});
    }
  }
  std::ranges::stable_sort(
      found, {}, [](const Relaxation& relaxation) { return relaxation.best.step_time; });
  return found;
}

}  // namespace

Result<WhyNot> why_not(const ExplainJob& job,
                       std::string_view constraints,
                       const SearchControl& control) {
  auto asked = parse_constraints(constraints);
  if (!asked) {
    return pass_on(std::move(asked));
  }
  if (asked->empty()) {
    return fail(ErrorCode::kInvalidInput,
                "asks for nothing; write constraints like tp=8,pp=4..16",
                "--why-not");
  }
  WhyNot answer;
  ExplainJob other = job;
  for (const auto& [name, values] : *asked) {
    answer.asked += fmt::format("{}{}={}", answer.asked.empty() ? "" : " ", name, values.text());
    other.request.constraints.insert_or_assign(name, values);
  }
  auto found = search_plans(other, control);
  if (!found) {
    answer.none = std::move(found.error());
    answer.relaxations = relaxations_of(other, *asked, control);
    return answer;
  }
  if (!found->plans.empty()) {
    auto priced = price_plan(other, found->plans.front().plan);
    if (!priced) {
      return pass_on(std::move(priced));
    }
    answer.plan = *std::move(priced);
  } else if (!found->estimated.empty()) {
    answer.estimated = std::move(found->estimated.front());
  } else {
    answer.none = Error{ErrorCode::kInfeasible,
                        "the search was stopped before it had found a plan",
                        "--time-limit"};
  }
  return answer;
}

}  // namespace stagewright
