#pragma once

#include <string>
#include <vector>

#include "study/accuracy_report.h"

namespace stagewright {

/// How well predictions rank the plans of a source that really differ: groups of equal model,
/// devices and batch in which at least three plans are each at least 5 % slower than the next
/// faster one.  Repeats of a plan count once, with the median of their times.
struct PlanRanking {
  std::string source;
  int groups = 0;
  double median_spearman = 0;  ///< rank correlation of predicted and measured times
  /// Measured time of the plan predicted best over the best measured, - 1.
  double median_regret = 0;
  double mean_regret = 0;
  double largest_regret = 0;
  friend bool operator==(const PlanRanking&, const PlanRanking&) = default;
};

/// Per source with such a group, by name.
[[nodiscard]] std::vector<PlanRanking> plan_rankings(const std::vector<AccuracyRow>& rows);

}  // namespace stagewright
