/// Writes docs/synthesis.md: synthesis against the peers' lists.
///   synthesis_table FILE [PREFIX]      only vectors whose names begin so

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "core/base/file.h"
#include "tests/integration/schedules/synthesis_cells.h"

namespace stagewright {
namespace {

constexpr const char* kIntroduction =
    R"(# Synthesised schedules against the peers' lists

Written by the program `synthesis_table` (`cmake --build build/release --target synthesis_table`, then
`build/release/tests/synthesis_table docs/synthesis.md`); the test `Synthesis.*` of `schedule_tests` holds what it shows.

Every compute-only list of a peer with at least 4 ranks stands beside what `synthesize()` makes for the same number of
ranks, stages a rank and micro-batches, with the peer's own memory as cap: on each rank the most micro-batches of a
stage that the peer holds, counted until the weight gradient. The search starts from our own schedules and patterns
alone; it never sees the peer's list. It may place stages in a loop or in waves.

* Costs of a stage: `c0` F = I = W = 1, B = 2, transfers 0; `c01` the same with transfers of 0.1; `uneq` F = 1, I = 1.2,
  W = 0.8, B = 2, transfers of 0.05. Figures are makespans with a flush.
* *Change* is synthesised over peer, less 1: negative is faster.
* *Above the bound* is synthesised over max over ranks (head + work + tail), less 1. The head is what has to happen before
  a rank can start; the tail is 0, as a weight half can be last. The bound ignores memory, so that with a tight cap
  no schedule comes near it.
* The last column is the fastest of our named schedules that fits the cap; a backward that it runs whole counts as two
  halves one after the other, so that the gradient goes out after the first.

)";

std::string rows(const std::vector<SynthesisCell>& cells) {
  std::string text =
      "| peer's list | costs | peer | synthesised | change | above the bound | best preset that "
      "fits "
      "|\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const SynthesisCell& cell : cells) {
    const auto& preset = cell.synthesis.best_preset;
    text += fmt::format(
        "| {} | {} | {:.6g} | {:.6g} | {:+.1f} % | {:.1f} % | {} |\n",
        cell.vector,
        cell.costs,
        to_seconds(cell.peer),
        to_seconds(cell.synthesis.time),
        100 * cell.change(),
        100 * cell.above_bound(),
        preset ? fmt::format("{} {:.6g}", preset->name, to_seconds(preset->time)) : "none");
  }
  return text;
}

std::string summary(const std::vector<SynthesisCell>& cells) {
  std::size_t better = 0;
  std::size_t equal = 0;
  double worst = -1;
  double sum = 0;
  double bound = 0;
  for (const SynthesisCell& cell : cells) {
    better += cell.change() < -1e-9 ? 1U : 0U;
    equal += std::abs(cell.change()) <= 1e-9 ? 1U : 0U;
    worst = std::max(worst, cell.change());
    sum += cell.change();
    bound += cell.above_bound();
  }
  const auto count = static_cast<double>(std::max<std::size_t>(cells.size(), 1));
  return fmt::format(
      "{} cells: faster in {}, equal in {}; the slowest {:+.1f} %, {:+.1f} % in the mean; {:.1f} % "
      "above the lower bound in the mean.\n",
      cells.size(),
      better,
      equal,
      100 * worst,
      100 * sum / count,
      100 * bound / count);
}

int write(const std::string& path, const std::string& prefix) {
  const auto of = [&prefix](std::int32_t copies) {
    std::vector<std::string> names = synthesis_vectors(copies);
    std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
    return synthesis_cells(names);
  };
  const std::vector<SynthesisCell> one = of(1);
  const std::vector<SynthesisCell> two = of(2);
  const std::string text =
      kIntroduction +
      fmt::format("## One copy of the weights\n\n{}\n{}\n", summary(one), rows(one)) +
      fmt::format(
          "## Peers with two copies of the weights\n\nThe synthesised order has one copy, and the "
          "peak of micro-batches that the peer has with two.\n\n{}\n{}",
          summary(two),
          rows(two));
  if (const auto written = write_file(path, text); !written) {
    std::cerr << written.error().to_string() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace stagewright

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: synthesis_table FILE [PREFIX]\n";
    return 2;
  }
  return stagewright::write(argv[1], argc == 3 ? argv[2] : "");
}
