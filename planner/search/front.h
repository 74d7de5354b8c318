#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/schedule/rank_program.h"
#include "planner/search/schedule_bound.h"
#include "planner/search/search.h"
#include "planner/search/walk.h"
#include "sim/analysis/summary.h"

namespace stagewright {

/// A point lowered and timed by the static pass, or why not.
using Simulated = std::variant<Candidate, Rejection>;

/// The plan of a leaf.
[[nodiscard]] Plan complete(const Leaf& leaf, const Plan& common);

/// Whether another cut, or more recomputation, may hold less than what time alone asks for.
[[nodiscard]] bool may_hold_less(const PlanPoint& point);

/// The leaf with the bound of its schedule's own order; unchanged where there is none.
void refine(const WalkJob& job, OrderCache& orders, Leaf& leaf);

/// A list that the static pass has timed.
struct TimedList {
  Plan plan;  ///< bucket size left out
  /// By program.  Plans that differ in the bucket size alone have the same list where these agree.
  std::vector<std::vector<GradientBucket>> buckets;
  Result<Summary> summary;
};
using TimedLists = std::vector<TimedList>;

/// Lowers and simulates a leaf.  Where its stages can be cut otherwise, or recompute more, and the
/// exact memory is too much, that is tried with less room until it fits.  Lists among `timed`,
/// which gets the new ones, are not timed again.
[[nodiscard]] Simulated simulate_leaf(const WalkJob& job,
                                      const Plan& common,
                                      Leaf leaf,
                                      TimedLists& timed);

/// The candidate that the closed form alone makes of a leaf.
[[nodiscard]] Candidate estimated(const WalkJob& job, const Plan& common, const Leaf& leaf);

/// The 95th percentile of a plan's step time under the objective's jitter.
[[nodiscard]] Result<Duration> p95_of(const WalkJob& job, const Plan& plan);

}  // namespace stagewright
