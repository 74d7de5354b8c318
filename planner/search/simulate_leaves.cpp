#include "planner/search/simulate_leaves.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <tbb/parallel_for.h>

namespace stagewright {

LeafSimulator::SameButBuckets& LeafSimulator::alike_with(PlanPoint point) {
  point.bucket_megabytes = 0;
  const auto found = std::ranges::find(alike_, point, &SameButBuckets::point);
  return found != alike_.end() ? *found : alike_.emplace_back(point);
}

std::vector<Simulated> LeafSimulator::run(const WalkJob& job,
                                          const Plan& common,
                                          const std::vector<Leaf>& leaves) {
  std::vector<TimedLists*> timed;
  for (const Leaf& leaf : leaves) {
    timed.push_back(&alike_with(leaf.point).timed);
  }
  std::vector<std::optional<Simulated>> found(leaves.size());
  tbb::parallel_for(
      std::size_t{0},
      leaves.size(),
      [&](std::size_t i) {
        if (job.stopped == nullptr || !(*job.stopped)()) {
          found[i] = simulate_leaf(job, common, leaves[i], *timed[i]);
        }
      },
      tbb::simple_partitioner());
  std::vector<Simulated> simulated;
  simulated.reserve(found.size());
  for (std::optional<Simulated>& one : found) {
    if (one) {
      simulated.push_back(*std::move(one));
    }
  }
  return simulated;
}

}  // namespace stagewright
