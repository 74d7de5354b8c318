#pragma once

#include <functional>
#include <memory>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "planner/search/search.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// Prices of a step on a cluster, which need not be the one at hand.  Of the plan only what
/// make_calibrated_cost() reads counts.
using PricesOf =
    std::function<Result<std::unique_ptr<CostModel>>(const Cluster& cluster, const Plan& plan)>;

/// A training job about whose plans questions are asked.
struct ExplainJob {
  ModelGraph model;
  Cluster cluster;
  SearchRequest request;  ///< the user's constraints, which every other plan keeps, too
  PricesOf prices;
};

/// What `stagewright plan` finds for the job, best first: a search with the job's own request.
/// Plans that are priced in closed form alone are looked for only where a constraint asks for what
/// lowering cannot execute.
[[nodiscard]] Result<SearchResult> search_plans(const ExplainJob& job,
                                                const SearchControl& control = {});

/// The best of them that can be lowered.  kUnsupported where there are only others.
[[nodiscard]] Result<Candidate> best_plan(const ExplainJob& job, const SearchControl& control = {});

}  // namespace stagewright
