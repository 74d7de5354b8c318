#pragma once

#include <string>
#include <vector>

#include "core/base/units.h"
#include "sim/analysis/step_work.h"

namespace stagewright {

/// By how much a step was longer than predicted because of one kind of work.
struct StepEffect {
  std::string kind;  ///< name_of(WorkKind), or one of the two below
  Duration effect{};
  friend bool operator==(const StepEffect&, const StepEffect&) = default;
};
/// Starts that nothing in the trace explains: a rank that was late.
inline constexpr const char* kLateStarts = "late starts";
/// What is left when all else takes predicted times: overlaps, and work that one trace lacks.
inline constexpr const char* kUnexplained = "unexplained";

/// Divides the difference between a measured step and the predicted one by kinds of work.  The
/// measured step is timed again and again, each time with one more kind taking the times that were
/// predicted for it, the one that changes the step most first; what the step changes by is the
/// kind's effect.  So an error off the critical path has none, and one that hides another's goes
/// first.  The effects are in that order, those of zero left out, and add up to `difference`
/// exactly.
/// Pieces are matched by rank and action.
[[nodiscard]] std::vector<StepEffect> step_effects(const StepWork& predicted,
                                                   const StepWork& measured,
                                                   Duration difference);

/// The fewest of the first effects with the sign of `difference` that explain at least `share` of
/// it; all that there are, where they do not.
struct Explanation {
  std::vector<std::string> kinds;
  double share = 0;  ///< of the difference; above 1 where others work against it
  friend bool operator==(const Explanation&, const Explanation&) = default;
};
[[nodiscard]] Explanation explain_difference(const std::vector<StepEffect>& effects,
                                             Duration difference,
                                             double share = 0.8);

}  // namespace stagewright
