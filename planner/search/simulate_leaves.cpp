#include "planner/search/simulate_leaves.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <tbb/parallel_for.h>

namespace stagewright {

LeafSimulator::SameButBuckets& LeafSimulator::alike_with(PlanPoint point) {
  point.bucket_megabytes = 0;
  const auto found = std::ranges::find(alike_, point, &SameButBuckets::point);
  return found != alike_.end()
             ? *found
             : alike_.emplace_back(SameButBuckets{.point = point, .timed = {}, .leaves = {}});
}

std::vector<Simulated> LeafSimulator::run(const WalkJob& job,
                                          const Plan& common,
                                          const std::vector<Leaf>& leaves) {
  std::vector<SameButBuckets*> at_hand;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    SameButBuckets& alike = alike_with(leaves[i].point);
    if (alike.leaves.empty()) {
      at_hand.push_back(&alike);
    }
    alike.leaves.push_back(i);
  }
  std::vector<std::optional<Simulated>> found(leaves.size());
  tbb::parallel_for(std::size_t{0}, at_hand.size(), [&](std::size_t k) {
    for (const std::size_t i : std::exchange(at_hand[k]->leaves, {})) {
      found[i] = simulate_leaf(job, common, leaves[i], at_hand[k]->timed);
    }
  });
  std::vector<Simulated> simulated;
  simulated.reserve(found.size());
  for (std::optional<Simulated>& one : found) {
    simulated.push_back(*std::move(one));
  }
  return simulated;
}

}  // namespace stagewright
