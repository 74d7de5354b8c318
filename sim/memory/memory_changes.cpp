#include "sim/memory/memory_changes.h"

#include <algorithm>
#include <cstddef>

namespace stagewright {

std::vector<MemoryChange> memory_changes(const RankProgram& program) {
  const std::vector<Lifetime> taken = lifetimes(program);
  std::vector<Lifetime> given_back = taken;
  std::ranges::stable_sort(given_back, {}, &Lifetime::last);
  const auto live_of = [&](LiveBytes& live, const Lifetime& lifetime) -> Bytes& {
    return live[static_cast<std::size_t>(program.tensors[lifetime.tensor.index()].tensor_class)];
  };
  std::vector<MemoryChange> changes;
  LiveBytes live{};
  std::size_t ended = 0;
  for (const Lifetime& lifetime : taken) {
    for (; ended < given_back.size() && given_back[ended].last < lifetime.first; ++ended) {
      live_of(live, given_back[ended]) -= given_back[ended].bytes;
    }
    live_of(live, lifetime) += lifetime.bytes;
    if (!changes.empty() && changes.back().at == lifetime.first) {
      changes.back().live = live;
    } else {
      changes.push_back({lifetime.first, live});
    }
  }
  return changes;
}

}  // namespace stagewright
