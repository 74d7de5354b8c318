#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/json_text.h"
#include "cli/plan_options.h"
#include "cli/plan_report.h"
#include "cli/runnable_plans.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "core/training/run_sizes.h"
#include "core/training/training_setup.h"
#include "formats/model_file.h"
#include "planner/search/search.h"
#include "sim/memory/memory_constants.h"
#include "sim/memory/step_memory.h"
#include "study/plan_inputs.h"

namespace stagewright {
namespace {

/// The closed form with the byte rules of the framework named; nothing for networks of images,
/// which it does not know.
Result<std::vector<StageMemory>> memory_of(const DataFiles& files,
                                           const std::string& framework_name,
                                           const ModelGraph& model,
                                           const Cluster& cluster,
                                           const std::vector<Candidate>& plans) {
  auto framework = find_framework(files, framework_name);
  if (!framework) {
    return pass_on(std::move(framework));
  }
  const auto constants = load_memory_constants(files);
  if (!constants) {
    return tl::unexpected<Error>(constants.error());
  }
  TrainingSetup setup{.device = cluster.types.front(), .framework = *std::move(framework)};
  std::vector<StageMemory> memory;
  if (sees_images(model)) {
    return memory;
  }
  for (const Candidate& candidate : plans) {
    setup.run = run_of(candidate.plan, model.shape);
    memory.push_back(step_memory(setup, *constants));
  }
  return memory;
}

/// By candidate: why it cannot be run, if so.
std::vector<std::optional<std::string>> obstacles_of(const ModelGraph& model,
                                                     const Cluster& cluster,
                                                     const std::vector<Candidate>& candidates) {
  std::vector<std::optional<std::string>> obstacles;
  for (const Candidate& candidate : candidates) {
    const auto runs = check_plan_runs(model, cluster, candidate.plan);
    obstacles.push_back(runs ? std::nullopt : std::optional(runs.error().to_string()));
  }
  return obstacles;
}

/// Fills in what the request leaves to the model and the cluster.  Gives the tokens of the whole
/// training, if they were given.
Result<std::optional<double>> complete_request(const DataFiles& files,
                                               const ModelGraph& model,
                                               const Cluster& cluster,
                                               PlanOptions& options) {
  SearchRequest& request = options.request;
  if (request.sequence == 0) {
    request.sequence = static_cast<std::int32_t>(model.shape.max_sequence);
  }
  const bool cpu = cluster.types.front().name == "cpu";
  auto precision =
      parse_dtype(options.precision.empty() ? (cpu ? "fp32" : "bf16") : options.precision);
  if (!precision) {
    return pass_on(std::move(precision));
  }
  request.precision.compute = *precision;
  if (auto read = read_plan_options(files, options); !read) {
    return pass_on(std::move(read));
  }
  if (options.tokens.empty()) {
    return std::optional<double>();
  }
  const auto count = parse_count(options.tokens, "--tokens");
  if (!count) {
    return tl::unexpected<Error>(count.error());
  }
  return std::optional<double>(*count);
}

/// Writes into the plans what they are for and who made them.
void sign(SearchResult& result, const Context& context, const PlanOptions& options) {
  for (auto* candidates : {&result.plans, &result.estimated, &result.pareto}) {
    for (Candidate& candidate : *candidates) {
      candidate.plan.model = options.model;
      candidate.plan.cluster = options.cluster;
      candidate.plan.made_by = {{"program", std::string("stagewright ") + std::string(version())},
                                {"command", context.command_line}};
    }
  }
}

Result<Searched> run_search(const Context& context, PlanOptions& options) {
  auto files = context.files();
  if (!files) {
    return pass_on(std::move(files));
  }
  auto model = find_model(*files, options.model);
  if (!model) {
    return pass_on(std::move(model));
  }
  auto cluster = find_cluster(*files, options.cluster);
  if (!cluster) {
    return pass_on(std::move(cluster));
  }
  auto profile = load_profile(options.profile);
  if (!profile) {
    return pass_on(std::move(profile));
  }
  const auto tokens = complete_request(*files, *model, *cluster, options);
  if (!tokens) {
    return tl::unexpected<Error>(tokens.error());
  }
  SearchRequest& request = options.request;
  Plan common;
  common.precision = request.precision;
  common.micro_batches = 2;  // gradients add up
  const auto cost =
      make_cost(*files, *model, *cluster, common, options.framework, std::move(*profile));
  if (!cost) {
    return tl::unexpected<Error>(cost.error());
  }
  const auto repeats = repeats_of(*files, options.framework);
  if (!repeats) {
    return tl::unexpected<Error>(repeats.error());
  }
  request.repeats = *repeats;
  const InterruptGuard interrupt;
  SearchControl control;
  control.stop = &InterruptGuard::requested();
  control.on_progress = [&](const SearchProgress& progress) {
    context.progress(fmt::format("searching: {} of {} points, {} simulated",
                                 progress.done,
                                 progress.space_size,
                                 progress.simulated));
  };
  auto result = search(*model, *cluster, **cost, request, control);
  context.progress("");
  if (!result) {
    return pass_on(std::move(result));
  }
  sign(*result, context, options);
  auto memory = memory_of(*files, options.framework, *model, *cluster, result->plans);
  if (!memory) {
    return pass_on(std::move(memory));
  }
  Searched::Obstacles obstacles{.plans = obstacles_of(*model, *cluster, result->plans),
                                .estimated = obstacles_of(*model, *cluster, result->estimated),
                                .pareto = obstacles_of(*model, *cluster, result->pareto)};
  return Searched{.result = *std::move(result),
                  .memory = *std::move(memory),
                  .obstacles = std::move(obstacles),
                  .objective = request.objective,
                  .step_tokens = static_cast<double>(request.global_batch) * request.sequence,
                  .tokens = *tokens};
}

ExitCode plan(const Context& context, PlanOptions& options) {
  const auto searched = run_search(context, options);
  if (!searched) {
    return context.report(searched.error());
  }
  const SearchResult* const result = &searched->result;
  if (!options.out.empty() && result->plans.empty() && !result->interrupted) {
    return context.report(
        {ErrorCode::kUnsupported,
         "only plans that the search estimates and does not simulate satisfy the "
         "fixed choices; free cp, ep, sequence-parallel and shard-group, or write "
         "such a plan yourself",
         "--out"});
  }
  if (!options.out.empty() && !result->plans.empty()) {
    if (auto written = write_file(options.out, to_json_text(result->plans.front().plan));
        !written) {
      return context.report(written.error());
    }
  }
  if (context.json) {
    *context.out << json_text(to_json(*searched));
  } else {
    *context.out << to_text(*searched, options.shown_rejections);
    if (!options.out.empty() && !result->plans.empty()) {
      *context.out << "wrote the best plan to " << options.out << "\n";
    }
  }
  return result->interrupted ? ExitCode::kInterrupted : ExitCode::kSuccess;
}

}  // namespace

void add_plan_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "plan", "Search the ways to split a model over a cluster; print the best, with reasons");
  auto options = std::make_shared<PlanOptions>();
  add_plan_options(*command, *options);
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return plan(context, *options); };
  });
}

}  // namespace stagewright
