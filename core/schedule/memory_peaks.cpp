#include <algorithm>
#include <numeric>

#include "core/schedule/lifetimes.h"

namespace stagewright {

MemoryPeaks memory_peaks(const RankProgram& program, const std::vector<Lifetime>& lifetimes) {
  std::vector<std::size_t> by_last(lifetimes.size());
  std::iota(by_last.begin(), by_last.end(), std::size_t{0});
  // Lists end lifetimes nearly in the order of their indices, which a merge sort makes use of.
  std::ranges::stable_sort(by_last, {}, [&](std::size_t i) { return lifetimes[i].last; });

  MemoryPeaks peaks;
  std::array<Bytes, kTensorClassCount> live{};
  Bytes total{};
  std::size_t ended = 0;
  for (const Lifetime& lifetime : lifetimes) {  // live bytes rise only where one begins
    for (; lifetimes[by_last[ended]].last < lifetime.first; ++ended) {
      const Lifetime& over = lifetimes[by_last[ended]];
      live[static_cast<std::size_t>(program.tensors[over.tensor.index()].tensor_class)] -=
          over.bytes;
      total -= over.bytes;
    }
    const auto tag =
        static_cast<std::size_t>(program.tensors[lifetime.tensor.index()].tensor_class);
    live[tag] += lifetime.bytes;
    total += lifetime.bytes;
    peaks.by_class[tag] = std::max(peaks.by_class[tag], live[tag]);
    peaks.total = std::max(peaks.total, total);
  }
  return peaks;
}

}  // namespace stagewright
