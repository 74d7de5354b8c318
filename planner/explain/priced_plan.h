#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "planner/explain/explain_job.h"
#include "sim/analysis/bubble_causes.h"
#include "sim/analysis/step_use.h"
#include "sim/analysis/summary.h"
#include "sim/memory/live_bytes.h"

namespace stagewright {

/// What ranks of one kind hold at the moment when they hold most.
struct RankMemory {
  RankId rank;                  ///< the first of those alike
  std::int32_t alike = 1;       ///< how many
  std::vector<StageId> stages;  ///< that they hold, ascending
  LiveBytes at_peak{};          ///< together with `context` the total
  Bytes context{};              ///< driver, libraries and communicators
  Bytes total{};
  Bytes capacity{};  ///< of the device
  friend bool operator==(const RankMemory&, const RankMemory&) = default;
};

/// A plan, lowered and timed by the static pass, with where its time and its memory go.
struct PricedPlan {
  Plan plan;
  Summary summary;
  StepUse use;
  std::vector<RankMemory> memory;  ///< by class of ranks, as in the summary

  [[nodiscard]] const RankMemory& fullest() const;  ///< that fills most of its device
};

/// Fails as lower() and simulate() do; a plan that does not fit into memory does not fail.
[[nodiscard]] Result<PricedPlan> price_plan(const ExplainJob& job, const Plan& plan);

}  // namespace stagewright
