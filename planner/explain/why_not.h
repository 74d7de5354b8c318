#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "planner/explain/explain_job.h"
#include "planner/explain/priced_plan.h"

namespace stagewright {

/// A constraint that, given up alone, leaves plans.
struct Relaxation {
  std::string given_up;  ///< "pp=4"
  Candidate best;        ///< of what is then left
};

/// What became of a wish.
struct WhyNot {
  std::string asked;                    ///< the wish, as constraints
  std::optional<PricedPlan> plan;       ///< the best that satisfies it ...
  std::optional<Candidate> estimated;   ///< ... or, where only such are left, one in closed form
  std::optional<Error> none;            ///< why no plan does: what stands in the way
  std::vector<Relaxation> relaxations;  ///< with `none`, the fastest first
};

/// The best plan under further constraints ("tp=8,pp=4"), which go before the job's own on the same
/// dimensions.  Fails where they are malformed.
[[nodiscard]] Result<WhyNot> why_not(const ExplainJob& job,
                                     std::string_view constraints,
                                     const SearchControl& control = {});

}  // namespace stagewright
