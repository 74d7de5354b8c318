#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "planner/explain/explain_job.h"
#include "planner/explain/priced_plan.h"

namespace stagewright {

/// A change of a plan that may hold less, and what it comes to.
struct MemoryFix {
  std::string change;  ///< "recompute full"
  Plan plan;           ///< after the change
  /// Simulated; absent where it cannot be, see `reason`.
  struct Outcome {
    Bytes peak{};  ///< on the fullest device
    bool fits = false;
    Duration step_time{};
    friend bool operator==(const Outcome&, const Outcome&) = default;
  };
  std::optional<Outcome> outcome;
  std::string reason;
};

/// What may be done about a plan that does not fit, each simulated: recomputation (selective, full,
/// full on the stages that are too full alone), higher ZeRO stages, smaller micro-batches, sequence
/// parallelism, more tensor or pipeline parallelism, other schedules; where none of these alone is
/// enough, the best plan of a search.  What fits comes first, by step time; then what does not, by
/// peak; then what cannot be done.  Changes that do not lower the peak are left out.
[[nodiscard]] std::vector<MemoryFix> memory_fixes(const ExplainJob& job,
                                                  const PricedPlan& priced,
                                                  const SearchControl& control = {});

}  // namespace stagewright
