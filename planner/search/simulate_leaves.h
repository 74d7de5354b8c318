#pragma once

#include <deque>
#include <vector>

#include "planner/search/front.h"

namespace stagewright {

/// Simulates leaves; of points that differ in the size of buckets alone each distinct list once.
class LeafSimulator {
 public:
  /// What simulate_leaf() makes of each, for several of them at once.  The same for any number of
  /// threads.
  /// Fewer than there are leaves where the job was stopped meanwhile.
  [[nodiscard]] std::vector<Simulated> run(const WalkJob& job,
                                           const Plan& common,
                                           const std::vector<Leaf>& leaves);

 private:
  /// Points that differ in nothing else.
  struct SameButBuckets {
    explicit SameButBuckets(const PlanPoint& of) : point(of) {}

    PlanPoint point;
    TimedLists timed;
  };

  [[nodiscard]] SameButBuckets& alike_with(PlanPoint point);

  std::deque<SameButBuckets> alike_;
};

}  // namespace stagewright
