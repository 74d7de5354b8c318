#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/model/model_graph.h"
#include "planner/explain/memory_fixes.h"
#include "planner/explain/priced_plan.h"
#include "planner/explain/rules_of_thumb.h"
#include "planner/explain/runner_ups.h"
#include "planner/explain/time_terms.h"
#include "planner/explain/what_if.h"
#include "planner/explain/why_not.h"
#include "study/next_measurement.h"

namespace stagewright {

/// What was found out about a plan; absent: not asked for.
struct PlanAnswers {
  ModelGraph model;
  PricedPlan priced;
  std::vector<TimeTerm> terms;
  bool limits = true;  ///< whether `terms` are to be shown
  std::optional<std::vector<RunnerUp>> runner_ups;
  std::vector<WhyNot> why_not;
  std::optional<std::vector<WhatIf>> what_if;
  bool memory = true;
  std::vector<MemoryFix> fixes;  ///< of a plan that does not fit
  std::optional<std::vector<RuleOfThumb>> rules;
  std::optional<std::vector<NextMeasurement>> next;
};

[[nodiscard]] nlohmann::ordered_json to_json(const PlanAnswers& answers);
[[nodiscard]] std::string to_text(const PlanAnswers& answers);

}  // namespace stagewright
