#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/schedule_costs.h"
#include "core/base/result.h"
#include "planner/schedules/generator.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// The options of the schedule `synth`, besides costs: `--memory-cap`, `--span` and `--effort`.
struct SynthesisOptions {
  std::string memory_cap;  ///< a number, or one for each rank: "8,8,7,5"; empty: P * V
  bool span = false;
  std::optional<std::int64_t> effort;

  [[nodiscard]] bool any() const { return !memory_cap.empty() || span || effort; }
};
void add_synthesis_options(CLI::App& command, SynthesisOptions& options);

/// What these and the costs are as parameters of `synth`.  Fails with kInvalidInput, naming the
/// option.
[[nodiscard]] Result<std::map<std::string, std::int64_t>> synthesis_parameters(
    const SynthesisOptions& options, const CostOptions& costs, const PipelineShape& shape);

}  // namespace stagewright
