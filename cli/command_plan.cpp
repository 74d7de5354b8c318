#include <memory>
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
#include "cli/memory_report.h"
#include "cli/number_check.h"
#include "cli/path_check.h"
#include "cli/table.h"
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

struct PlanOptions {
  std::string model;
  std::string cluster;
  std::string profile;
  std::string out;
  std::string precision;
  std::string recompute;
  std::int32_t shown_rejections = 5;
  SearchRequest request;
};

/// What a search found, with the memory of each plan by component.
struct Searched {
  SearchResult result;
  std::vector<StageMemory> memory;  ///< of result.plans: the fullest stage, with what the allocator
                                    ///< keeps and the driver takes
};

nlohmann::json to_json(const Searched& searched) {
  const SearchResult& result = searched.result;
  nlohmann::json plans = nlohmann::json::array();
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    const Candidate& candidate = result.plans[i];
    plans.push_back({{"plan", nlohmann::json::parse(to_json_text(candidate.plan))},
                     {"step_time_s", to_seconds(candidate.step_time)},
                     {"tokens_per_s", candidate.tokens_per_s},
                     {"mfu", candidate.mfu},
                     {"peak_memory_bytes", candidate.peak_memory.count()},
                     {"memory", to_json(searched.memory[i])},
                     {"bubble", candidate.bubble}});
  }
  nlohmann::json rejected = nlohmann::json::array();
  for (const Rejection& rejection : result.rejected) {
    rejected.push_back({{"plan", nlohmann::json::parse(to_json_text(rejection.plan))},
                        {"reason", rejection.reason}});
  }
  return {{"plans", std::move(plans)},
          {"rejected", std::move(rejected)},
          {"space",
           {{"size", result.space_size},
            {"evaluated", result.evaluated},
            {"pruned", result.pruned},
            {"simulated", result.simulated}}},
          {"interrupted", result.interrupted}};
}

void print(const Context& context, const Searched& searched, std::int32_t shown_rejections) {
  const SearchResult& result = searched.result;
  Table table({"#", "plan", "step", "tokens/s", "MFU", "peak memory", "bubble"});
  int rank = 0;
  for (const Candidate& candidate : result.plans) {
    table.add({fmt::format("{}", ++rank),
               summary(candidate.plan),
               to_string(candidate.step_time),
               count_text(candidate.tokens_per_s),
               percent(candidate.mfu),
               to_string(candidate.peak_memory),
               percent(candidate.bubble)});
  }
  *context.out << table.to_string();
  if (!searched.memory.empty()) {
    const StageMemory& memory = searched.memory.front();
    *context.out << fmt::format(
        "\nmemory of the best plan, stage {}: {}\n", memory.stage, to_line(memory));
  }
  *context.out << fmt::format(
      "\n{} points: {} priced in closed form, {} simulated, {} pruned by their bound, {} "
      "rejected{}\n",
      result.space_size,
      result.evaluated,
      result.simulated,
      result.pruned,
      result.rejected.size(),
      result.interrupted ? "; stopped early" : "");
  const auto shown =
      std::min<std::size_t>(result.rejected.size(), static_cast<std::size_t>(shown_rejections));
  for (std::size_t i = 0; i < shown; ++i) {
    *context.out << fmt::format(
        "  rejected {}: {}\n", summary(result.rejected[i].plan), result.rejected[i].reason);
  }
  if (shown < result.rejected.size()) {
    *context.out << fmt::format("  ... and {} more (--rejected N, --json for all)\n",
                                result.rejected.size() - shown);
  }
}

/// The closed form with the byte rules of this project's executor.
Result<std::vector<StageMemory>> memory_of(const DataFiles& files,
                                           const ModelGraph& model,
                                           const Cluster& cluster,
                                           const std::vector<Candidate>& plans) {
  auto framework = find_framework(files, "stagewright");
  if (!framework) {
    return pass_on(std::move(framework));
  }
  const auto constants = load_memory_constants(files);
  if (!constants) {
    return tl::unexpected<Error>(constants.error());
  }
  TrainingSetup setup{.device = cluster.types.front(), .framework = *std::move(framework)};
  std::vector<StageMemory> memory;
  for (const Candidate& candidate : plans) {
    setup.run = run_of(candidate.plan, model.shape);
    memory.push_back(step_memory(setup, *constants));
  }
  return memory;
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
  SearchRequest& request = options.request;
  if (request.sequence == 0) {
    request.sequence = static_cast<std::int32_t>(model->shape.max_sequence);
  }
  const bool cpu = cluster->types.front().name == "cpu";
  auto precision =
      parse_dtype(options.precision.empty() ? (cpu ? "fp32" : "bf16") : options.precision);
  if (!precision) {
    return pass_on(std::move(precision));
  }
  request.precision.compute = *precision;
  const auto cost = make_cost(*files, std::move(*profile));
  if (!cost) {
    return tl::unexpected<Error>(cost.error());
  }
  const InterruptGuard interrupt;
  SearchControl control;
  control.stop = &InterruptGuard::requested();
  control.on_progress = [&](const SearchProgress& progress) {
    context.progress(fmt::format("searching: {} of {} points, {} simulated",
                                 progress.evaluated,
                                 progress.space_size,
                                 progress.simulated));
  };
  auto result = search(*model, *cluster, **cost, request, control);
  context.progress("");
  if (!result) {
    return pass_on(std::move(result));
  }
  for (Candidate& candidate : result->plans) {
    candidate.plan.model = options.model;
    candidate.plan.cluster = options.cluster;
    candidate.plan.made_by = {{"program", std::string("stagewright ") + std::string(version())},
                              {"command", context.command_line}};
  }
  auto memory = memory_of(*files, *model, *cluster, result->plans);
  if (!memory) {
    return pass_on(std::move(memory));
  }
  return Searched{*std::move(result), *std::move(memory)};
}

ExitCode plan(const Context& context, PlanOptions& options) {
  const auto searched = run_search(context, options);
  if (!searched) {
    return context.report(searched.error());
  }
  const SearchResult* const result = &searched->result;
  if (!options.out.empty()) {
    if (auto written = write_file(options.out, to_json_text(result->plans.front().plan));
        !written) {
      return context.report(written.error());
    }
  }
  if (context.json) {
    *context.out << json_text(to_json(*searched));
  } else {
    print(context, *searched, options.shown_rejections);
    if (!options.out.empty()) {
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
  SearchRequest& request = options->request;
  command
      ->add_option("--model",
                   options->model,
                   "Preset (llama3-70b, gpt3-175b, ...), Hugging Face config.json, or model file")
      ->required();
  command
      ->add_option("--cluster",
                   options->cluster,
                   "NODESxDEVICESxTYPE (16x8xh100-sxm, 1x2xcpu), a preset, or a cluster file")
      ->required();
  command->add_option("--global-batch", request.global_batch, "Sequences per optimizer step")
      ->required()
      ->check(positive_count);
  command
      ->add_option("--seq", request.sequence, "Tokens per sequence (default: the model's longest)")
      ->check(positive_count);
  command->add_option("--profile", options->profile, "Measured times that go before the cost model")
      ->check(path_given);
  command->add_option(
      "--precision", options->precision, "bf16, fp16, fp32 (default: bf16; fp32 on cpu)");
  command->add_option("--dp", request.dp, "Fix data parallelism")->check(positive_count);
  command->add_option("--tp", request.tp, "Fix tensor parallelism")->check(positive_count);
  command->add_option("--pp", request.pp, "Fix pipeline parallelism")->check(positive_count);
  command->add_option("--micro-batch", request.micro_batch_size, "Fix the micro-batch size")
      ->check(positive_count);
  command->add_option("--recompute", options->recompute, "Fix recomputation: none or full")
      ->check(CLI::IsMember({"none", "full"}));
  command->add_option("--schedule", request.schedule, "Fix the pipeline schedule: gpipe or 1f1b");
  command
      ->add_option("--memory-share",
                   request.memory_share,
                   "Share of the device's memory that a plan may fill")
      ->check(positive_number);
  command->add_option("--top", request.keep, "How many plans to print")->check(positive_count);
  command->add_option("--rejected", options->shown_rejections, "How many rejected points to print")
      ->check(non_negative_count);
  command->add_option("--out", options->out, "Write the best plan to this file")->check(path_given);
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) {
      if (!options->recompute.empty()) {
        options->request.recompute =
            options->recompute == "full" ? Recompute::kFull : Recompute::kNone;
      }
      return plan(context, *options);
    };
  });
}

}  // namespace stagewright
