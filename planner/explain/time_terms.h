#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/explain/priced_plan.h"

namespace stagewright {

/// What a part of a step's time is.
enum class TermKind : std::uint8_t {
  kCompute,
  kRecompute,
  kOptimizer,
  kCommunication,  ///< that no computation hides
  kBubble,
};
[[nodiscard]] std::string_view name_of(TermKind kind);

/// A part of a step's time, as the mean over all ranks.
struct TimeTerm {
  TermKind kind = TermKind::kCompute;
  /// "blocks", "embedding and head"; a kind of communication ("tensor", "data", "pipeline",
  /// "parameter gathers", ...); a cause of idling ("warm-up", ...).
  std::string what;
  double seconds = 0;
  double share = 0;    ///< of the step
  std::string detail;  ///< for people: where most of it lies; may be empty
  friend bool operator==(const TimeTerm&, const TimeTerm&) = default;

  [[nodiscard]] std::string text() const;  ///< "exposed communication: tensor"
};

/// What limits a plan: all parts of its step, the largest first.  They add up to the step.
[[nodiscard]] std::vector<TimeTerm> time_terms(const PricedPlan& priced, const ModelGraph& model);

/// By how much a part of the step differs between two plans.
struct TermDifference {
  std::string text;  ///< of the term
  double here = 0;   ///< seconds
  double there = 0;
  friend bool operator==(const TermDifference&, const TermDifference&) = default;
  [[nodiscard]] double change() const { return there - here; }
};

/// Of all terms of both, the largest change first; the changes add up to the difference of the
/// steps.
[[nodiscard]] std::vector<TermDifference> differences(const std::vector<TimeTerm>& here,
                                                      const std::vector<TimeTerm>& there);

}  // namespace stagewright
