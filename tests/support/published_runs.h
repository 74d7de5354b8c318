#pragma once

#include <string>

namespace stagewright {

/// The text of tests/data/measured_runs.jsonl: published runs with their sources, a line each.
[[nodiscard]] std::string published_runs();

/// The first line of every source of the published runs, and every `step`-th after it: what goes
/// the ways of all of them in a fraction of the time.
[[nodiscard]] std::string some_published_runs(int step);

}  // namespace stagewright
