#include "sim/memory/memory_changes.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "tests/support/random_program.h"

namespace stagewright {
namespace {

TEST(MemoryChanges, EachClassReachesItsHighWaterMark) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    const RankProgram program = random_program(random);
    MemoryPeaks peaks;
    for (const MemoryChange& change : memory_changes(program)) {
      for (std::size_t c = 0; c < change.live.size(); ++c) {
        peaks.by_class[c] = std::max(peaks.by_class[c], change.live[c]);
      }
      peaks.total = std::max(peaks.total, total_of(change.live));
    }
    EXPECT_EQ(peaks, memory_peaks(program, lifetimes(program)))
        << "trial " << trial << " of seed 7";
  }
}

}  // namespace
}  // namespace stagewright
