#include "planner/search/cuts.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace stagewright {

std::int64_t cut_count(std::int64_t layers, std::int64_t stages) {
  if (stages < 1 || stages > layers) {
    return 0;
  }
  const std::int64_t chosen = std::min(stages - 1, layers - stages);
  std::int64_t count = 1;
  for (std::int64_t i = 1; i <= chosen; ++i) {
    const std::int64_t factor = layers - 1 - chosen + i;
    if (count > std::numeric_limits<std::int64_t>::max() / factor) {
      return std::numeric_limits<std::int64_t>::max();
    }
    count = count * factor / i;  // a binomial coefficient at every step
  }
  return count;
}

std::vector<std::int32_t> cut_numbered(std::int32_t layers,
                                       std::int32_t stages,
                                       std::int64_t number) {
  SW_CHECK(number >= 0 && number < cut_count(layers, stages), "a number of a cut");
  std::vector<std::int32_t> cut;
  for (std::int32_t left = stages; left > 1; --left) {
    std::int32_t own = 1;
    for (;; ++own) {
      const std::int64_t behind = cut_count(layers - own, left - 1);
      if (number < behind) {
        break;
      }
      number -= behind;
    }
    cut.push_back(own);
    layers -= own;
  }
  cut.push_back(layers);
  return cut;
}

std::vector<std::int32_t> even_cut(std::int32_t layers, std::int32_t stages) {
  std::vector<std::int32_t> cut(static_cast<std::size_t>(stages), layers / stages);
  for (std::int32_t s = 0; s < layers % stages; ++s) {
    ++cut[static_cast<std::size_t>(s)];
  }
  return cut;
}

}  // namespace stagewright
