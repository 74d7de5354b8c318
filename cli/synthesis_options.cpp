#include "cli/synthesis_options.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/memory_cap.h"
#include "cli/path_check.h"
#include "planner/schedules/synthesis/synth_schedule.h"

namespace stagewright {
namespace {

/// A recomputation frees memory only where less than the whole is held until then; elsewhere its
/// time would be spent for nothing.
bool keeps_less_until_recomputation(const PipelineShape& shape) {
  return std::ranges::any_of(shape.parameters, [](const auto& parameter) {
    return parameter.first == "checkpoint" || parameter.first.starts_with("checkpoint.");
  });
}

}  // namespace

void add_synthesis_options(CLI::App& command, SynthesisOptions& options) {
  command
      .add_option("--memory-cap",
                  options.memory_cap,
                  "For synth: micro-batches of a stage that a rank may hold until W; one number "
                  "or one for each rank (P * V)")
      ->check(value_given);
  command.add_flag(
      "--span", options.span, "For synth: no flush at the end, ranks end when they can");
  command.add_option("--effort", options.effort, "For synth: million steps of search (40)")
      ->check(CLI::Range(1, 100'000));
}

Result<std::map<std::string, std::int64_t>> synthesis_parameters(const SynthesisOptions& options,
                                                                 const CostOptions& costs,
                                                                 const PipelineShape& shape) {
  Result<std::vector<std::int64_t>> caps = read_caps(options.memory_cap, shape.ranks);
  if (!caps) {
    return pass_on(std::move(caps));
  }
  constexpr double kActionsPerStage = 3;
  Result<ListPrices> prices =
      prices_for(costs, shape.stages(), kActionsPerStage * shape.stages() * shape.micro_batches);
  if (!prices) {
    return pass_on(std::move(prices));
  }
  SynthesisRequest request{
      .shape = shape,
      .costs = std::move(prices->costs),
      .memory_cap = *std::move(caps),
      .objective = options.span ? SynthesisObjective::kSpan : SynthesisObjective::kMakespan};
  if (!keeps_less_until_recomputation(shape)) {
    request.costs.recompute.clear();
  }
  request.effort = options.effort.value_or(request.effort);
  return synth_parameters(request);
}

}  // namespace stagewright
