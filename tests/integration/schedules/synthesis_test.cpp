// Synthesis against the peers' own lists, at the peers' own memory.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/integration/schedules/synthesis_cells.h"

namespace stagewright {
namespace {

#ifdef NDEBUG
/// Optimised: all of them.
constexpr std::size_t kEvery = 1;
#else
/// Without optimisation the search takes some ten times as long, under a sanitizer some hundred:
/// then every so many vectors, in the order of their names, which has all families in turn.
constexpr std::size_t kEvery = 12;
#endif

constexpr double kMostSlower = 0.02;
constexpr std::size_t kFasterCells = 10;

std::vector<std::string> some_of(const std::vector<std::string>& names) {
  std::vector<std::string> some;
  for (std::size_t i = 0; i < names.size(); i += kEvery) {
    some.push_back(names[i]);
  }
  return some;
}

void expect_sound(const SynthesisCell& cell) {
  EXPECT_TRUE(cell.valid) << "complete, and as fast as stated";
  EXPECT_TRUE(cell.within_cap);
  EXPECT_GE(cell.synthesis.time, cell.synthesis.lower_bound);
  if (cell.synthesis.best_preset) {
    EXPECT_LE(cell.synthesis.time, cell.synthesis.best_preset->time);
  }
}

TEST(Synthesis, IsNeverMuchSlowerThanAPeersListAndOftenFaster) {
  std::size_t faster = 0;
  for (const SynthesisCell& cell : synthesis_cells(some_of(synthesis_vectors(1)))) {
    SCOPED_TRACE(cell.vector + " " + cell.costs);
    expect_sound(cell);
    EXPECT_LE(cell.change(), kMostSlower);
    faster += cell.change() < 0 ? 1U : 0U;
  }
  EXPECT_GE(faster, kFasterCells / kEvery);
}

/// Their second copy of the weights is something that the synthesised order does without.
TEST(Synthesis, IsSoundAtTheMemoryOfListsWithTwoCopies) {
  for (const SynthesisCell& cell : synthesis_cells(some_of(synthesis_vectors(2)))) {
    SCOPED_TRACE(cell.vector + " " + cell.costs);
    expect_sound(cell);
  }
}

}  // namespace
}  // namespace stagewright
