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
  const std::string text = summary(one) + "\n" + rows(one) + "\n" + summary(two) + "\n" + rows(two);
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
