#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
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

/// Lists that the static pass has timed, each once.  For several threads at once.
class TimedLists {
 public:
  struct Key {
    Plan plan;  ///< bucket size left out
    /// By program.  Plans that differ in the bucket size alone have the same list where these
    /// agree.
    std::vector<std::vector<GradientBucket>> buckets;
    friend bool operator==(const Key&, const Key&) = default;
  };
  /// The list's summary, from `time` where nobody has asked for it yet.  Stays where it is.
  [[nodiscard]] const Result<Summary>& find(Key key, const std::function<Result<Summary>()>& time);
  [[nodiscard]] std::size_t size() const { return lists_.size(); }

 private:
  struct List {
    explicit List(Key of) : key(std::move(of)) {}

    Key key;
    std::once_flag once;
    std::optional<Result<Summary>> summary;
  };

  std::mutex mutex_;
  std::deque<List> lists_;
};

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
