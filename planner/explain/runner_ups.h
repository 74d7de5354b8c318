#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "planner/explain/explain_job.h"
#include "planner/explain/priced_plan.h"

namespace stagewright {

/// The best plan that decides one thing otherwise.
struct RunnerUp {
  std::string dimension;  ///< "tp"
  std::string here;       ///< what the plan in question has: "8"
  std::optional<PricedPlan> plan;
  std::string reason;  ///< why there is none
};

/// What a plan decides in that dimension, as constraints write it; nothing where stages differ.
[[nodiscard]] std::optional<std::string> decision_of(const Plan& plan, std::string_view dimension);

/// For each main decision (tp, pp, micro-batch, recompute, schedule, zero) that the job's
/// constraints leave free: the plan that a search finds where everything else may change, too, the
/// fastest first.
[[nodiscard]] Result<std::vector<RunnerUp>> runner_ups(const ExplainJob& job,
                                                       const Plan& plan,
                                                       const SearchControl& control = {});

}  // namespace stagewright
