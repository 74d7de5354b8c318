#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/framework_option.h"
#include "cli/json_text.h"
#include "cli/output_files.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "planner/search/synthesise_plan.h"
#include "study/plan_inputs.h"

namespace stagewright {
namespace {

struct SynthesiseCommand {
  std::string plan;
  std::string model;
  std::string cluster;
  std::string framework = "stagewright";
  std::string profile;
  std::string out;
  double memory_share = 0.95;
  std::int64_t effort = 40;
};

Result<SynthesisedPlan> synthesise(const Context& context, const SynthesiseCommand& command) {
  auto files = context.files();
  if (!files) {
    return pass_on(std::move(files));
  }
  auto inputs = load_plan(*files, command.plan, command.model, command.cluster);
  if (!inputs) {
    return pass_on(std::move(inputs));
  }
  auto profile = load_profile(command.profile);
  if (!profile) {
    return pass_on(std::move(profile));
  }
  const auto cost = make_cost(
      *files, inputs->model, inputs->cluster, inputs->plan, command.framework, *std::move(profile));
  if (!cost) {
    return tl::unexpected<Error>(cost.error());
  }
  auto made = synthesise_plan(
      inputs->model, inputs->cluster, **cost, inputs->plan, command.memory_share, command.effort);
  if (!made) {
    return tl::unexpected(in_plan_file(std::move(made).error(), command.plan));
  }
  made->plan.made_by["schedule"] = "stagewright " + std::string(version());
  return made;
}

ExitCode run(const Context& context, const SynthesiseCommand& command) {
  const auto made = synthesise(context, command);
  if (!made) {
    return context.report(made.error());
  }
  if (!command.out.empty()) {
    if (const auto written = write_file(command.out, to_json_text(made->plan)); !written) {
      return context.report(written.error());
    }
  }
  if (context.json) {
    *context.out << json_text({{"plan", nlohmann::json::parse(to_json_text(made->plan))},
                               {"step_time_s", to_seconds(made->step_time)},
                               {"step_time_before_s", to_seconds(made->before)},
                               {"peak_memory_bytes", made->peak_memory.count()},
                               {"peak_memory_before_bytes", made->memory_before.count()}});
  } else {
    *context.out << fmt::format(
        "{}\nstep time {}, as the plan was {}; peak memory {}, as it was {}\n",
        summary(made->plan),
        to_string(made->step_time),
        to_string(made->before),
        to_string(made->peak_memory),
        to_string(made->memory_before));
    if (made->step_time == made->before) {
      *context.out << "nothing faster was found; the plan is as it was\n";
    } else if (made->step_time > made->before) {
      *context.out << "slower, but within the memory that --memory-share allows, which the plan as "
                      "it was is not\n";
    }
  }
  return ExitCode::kSuccess;
}

}  // namespace

void add_schedules_synthesise_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "synthesise", "Give a plan an order that is searched for its own stages and memory");
  auto options = std::make_shared<SynthesiseCommand>();
  command->add_option("plan", options->plan, "Plan file")->required();
  command->add_option("--model", options->model, "Model instead of the plan's");
  command->add_option("--cluster", options->cluster, "Cluster instead of the plan's");
  add_framework_option(*command, options->framework);
  command->add_option("--profile", options->profile, "Measured times");
  add_output_option(*command, "--out", options->out, "File for the plan");
  command->add_option("--memory-share", options->memory_share, "Of the devices' memory to use")
      ->check(CLI::Range(0.01, 1.0));
  command->add_option("--effort", options->effort, "Million steps of search")
      ->check(CLI::Range(1, 100'000));
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
