#include "planner/explain/explain_job.h"

#include <algorithm>
#include <utility>

#include "planner/search/space.h"

namespace stagewright {
namespace {

/// Whether a constraint is on something that lowering may not execute.
bool asks_for_closed_form(const SearchRequest& request) {
  return std::ranges::any_of(dimensions(), [&](const Dimension& dimension) {
    return dimension.executable != nullptr && request.constraints.contains(dimension.name);
  });
}

}  // namespace

Result<SearchResult> search_plans(const ExplainJob& job, const SearchControl& control) {
  Plan common = common_plan(job.model, job.cluster, job.request);
  common.micro_batches = 2;  // gradients add up
  const auto prices = job.prices(job.cluster, common);
  if (!prices) {
    return tl::unexpected<Error>(prices.error());
  }
  SearchRequest request = job.request;
  if (!asks_for_closed_form(request)) {
    request.step_prices.reset();
  }
  return search(job.model, job.cluster, **prices, request, control);
}

Result<Candidate> best_plan(const ExplainJob& job, const SearchControl& control) {
  auto found = search_plans(job, control);
  if (!found) {
    return pass_on(std::move(found));
  }
  if (found->plans.empty()) {
    return fail(found->interrupted ? ErrorCode::kInfeasible : ErrorCode::kUnsupported,
                found->interrupted ? "the search was stopped before it had found a plan"
                                   : "only plans that the search estimates and does not simulate "
                                     "satisfy the constraints; free cp, ep or shard-group");
  }
  return std::move(found->plans.front());
}

}  // namespace stagewright
