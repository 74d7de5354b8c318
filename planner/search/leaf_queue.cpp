#include "planner/search/leaf_queue.h"

namespace stagewright {

void LeafQueue::add(Leaf leaf, bool refined) {
  const Key key{.value = leaf.value, .refined = refined, .number = added_++};
  leaves_.emplace(key, std::move(leaf));
}

std::vector<Leaf> LeafQueue::take(std::size_t most,
                                  const std::function<bool(double next)>& enough) {
  std::vector<Leaf> taken;
  const bool refined = !empty() && first_is_refined();
  while (!empty() && taken.size() < most && first_is_refined() == refined && !enough(least())) {
    taken.push_back(std::move(leaves_.begin()->second));
    leaves_.erase(leaves_.begin());
  }
  return taken;
}

}  // namespace stagewright
