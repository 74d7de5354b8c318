#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster/device.h"
#include "planner/explain/explain_job.h"
#include "planner/explain/priced_plan.h"

namespace stagewright {

/// The job with one thing changed.
struct Scenario {
  std::string name;  ///< "bandwidth between nodes x 2"
  ExplainJob job;
};

/// Twice the bandwidth inside nodes, between them; a tenth of the latency; twice the memory; half
/// and twice the batch; one more node; each of `devices` in place of the job's.  Left out is what
/// the job does not have: links between nodes of one node, half of an odd batch.
[[nodiscard]] std::vector<Scenario> usual_scenarios(const ExplainJob& job,
                                                    const std::vector<DeviceType>& devices = {});

/// How a scenario ends.
struct WhatIf {
  std::string name;
  std::optional<PricedPlan> same;  ///< the plan as it is; with another batch, more or fewer
                                   ///< micro-batches
  std::string same_reason;         ///< why there is none
  std::optional<Candidate> best;   ///< what best_plan(scenario.job) finds
  std::string best_reason;         ///< why there is none
};

[[nodiscard]] WhatIf what_if(const Scenario& scenario,
                             const Plan& plan,
                             const SearchControl& control = {});

}  // namespace stagewright
