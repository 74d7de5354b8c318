#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/explain/explain_job.h"
#include "planner/explain/priced_plan.h"

namespace stagewright {

enum class Verdict : std::uint8_t {
  kKept,
  kBroken,
  kNoMatter,  ///< the plan has nothing that the rule is about
};
[[nodiscard]] std::string_view name_of(Verdict verdict);  ///< "kept", "broken", "no matter"

/// A rule that practitioners plan by, held against a plan.
struct RuleOfThumb {
  std::string rule;
  Verdict verdict = Verdict::kNoMatter;
  std::string figures;  ///< what the plan has
  /// Seconds of the step that lie in what the rule is about: what keeping it better could save at
  /// most.  Zero where the rule is about no time.
  double at_stake = 0;
};

/// Tensor parallelism within the node; micro-batches at least 2 to 4 times the stages, and 4 to 8,
/// 16 to 32 or 64 to 128 by the model's size; stage times within 10 %; memory below 90 %;
/// utilisation above 80 %.
[[nodiscard]] std::vector<RuleOfThumb> rules_of_thumb(const ExplainJob& job,
                                                      const PricedPlan& priced);

}  // namespace stagewright
