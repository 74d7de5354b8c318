#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/table.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "planner/lower/lower.h"
#include "sim/engine/static_pass.h"

namespace stagewright {
namespace {

struct SimulateCommand {
  std::string plan;
  std::string model;
  std::string cluster;
  std::string profile;
  std::string trace;
  std::string schedule_out;
  bool all_ranks = false;
};

nlohmann::json seconds_by_kind(const std::map<std::string, Duration>& times) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [kind, time] : times) {
    json[kind] = to_seconds(time);
  }
  return json;
}

nlohmann::json bytes_by_class(const MemoryPeaks& peaks) {
  nlohmann::json json = nlohmann::json::object();
  for (int c = 0; c < kTensorClassCount; ++c) {
    json[std::string(name_of(static_cast<TensorClass>(c)))] =
        peaks.by_class[static_cast<std::size_t>(c)].count();
  }
  return json;
}

nlohmann::json to_json(const Summary& summary, const std::string& hash) {
  nlohmann::json ranks = nlohmann::json::array();
  for (const RankSummary& rank : summary.ranks) {
    ranks.push_back({{"rank", rank.rank.value()},
                     {"alike", rank.alike},
                     {"busy_s", to_seconds(rank.busy)},
                     {"bubble", rank.bubble},
                     {"exposed_s", seconds_by_kind(rank.exposed)},
                     {"memory_bytes", rank.device_memory.count()},
                     {"memory_by_class_bytes", bytes_by_class(rank.memory)},
                     {"fits", rank.fits}});
  }
  return {{"schedule_hash", hash},
          {"step_time_s", to_seconds(summary.step_time)},
          {"tokens_per_s", summary.tokens_per_second},
          {"mfu", summary.mfu ? nlohmann::json(*summary.mfu) : nlohmann::json()},
          {"bubble", summary.bubble},
          {"exposed_s", seconds_by_kind(summary.exposed)},
          {"peak_memory_bytes", summary.peak_memory.count()},
          {"fits", summary.fits},
          {"measured_share", summary.measured_share},
          {"ranks", std::move(ranks)}};
}

std::string exposed_text(const std::map<std::string, Duration>& exposed) {
  std::string text;
  for (const auto& [kind, time] : exposed) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, to_string(time));
  }
  return text.empty() ? "none" : text;
}

void print(std::ostream& out, const Plan& plan, const Summary& summary) {
  out << stagewright::summary(plan) << "\n\n";
  Table table({"rank",
               "alike",
               "busy",
               "bubble",
               "exposed communication",
               "memory",
               "of which activations"});
  for (const RankSummary& rank : summary.ranks) {
    const auto activations = static_cast<std::size_t>(TensorClass::kActivation);
    table.add({fmt::format("{}", rank.rank.value()),
               fmt::format("{}", rank.alike),
               to_string(rank.busy),
               percent(rank.bubble),
               exposed_text(rank.exposed),
               to_string(rank.device_memory) + (rank.fits ? "" : " (does not fit)"),
               to_string(rank.memory.by_class[activations])});
  }
  out << table.to_string();
  out << fmt::format("\nstep time {}, {} tokens/s, MFU {}, bubble {}, peak memory {}{}\n",
                     to_string(summary.step_time),
                     count_text(summary.tokens_per_second),
                     summary.mfu ? percent(*summary.mfu) : "unknown",
                     percent(summary.bubble),
                     to_string(summary.peak_memory),
                     summary.fits ? "" : " (does not fit)");
  out << fmt::format("exposed communication (mean over ranks): {}\n",
                     exposed_text(summary.exposed));
  out << fmt::format("{} of the priced time is measured, the rest comes from the cost model\n",
                     percent(summary.measured_share));
}

Result<Simulation> simulate_plan(const Context& context,
                                 const SimulateCommand& command,
                                 PlanInputs& inputs,
                                 std::string& hash) {
  auto profile = load_profile(command.profile);
  if (!profile) {
    return pass_on(std::move(profile));
  }
  auto schedule = lower(inputs.model, inputs.cluster, inputs.plan);
  if (!schedule) {
    return tl::unexpected<Error>(in_plan_file(std::move(schedule).error(), command.plan));
  }
  hash = schedule_hash(*schedule);
  if (!command.schedule_out.empty()) {
    if (auto written = write_file(command.schedule_out, to_json_text(*schedule)); !written) {
      return pass_on(std::move(written));
    }
  }
  const Plan& plan = inputs.plan;
  SimulationOptions options;
  options.trace = command.trace.empty() ? TraceDetail::kNone : TraceDetail::kOperations;
  options.trace_all_ranks = command.all_ranks || schedule->ranks.size() <= 64;
  options.model_flops =
      model_flops(inputs.model, plan.global_batch() * plan.sequence, plan.sequence);
  const auto cost = make_cost(std::move(*profile));
  auto simulation = simulate(*schedule, inputs.cluster, *cost, options);
  if (simulation) {
    Trace& trace = simulation->trace;
    trace.plan_summary = summary(plan);
    trace.made_by = {{"program", "stagewright " + std::string(version())},
                     {"command", context.command_line}};
  }
  return simulation;
}

ExitCode run(const Context& context, const SimulateCommand& command) {
  const auto files = context.files();
  if (!files) {
    return context.report(files.error());
  }
  auto inputs = load_plan(*files, command.plan, command.model, command.cluster);
  if (!inputs) {
    return context.report(inputs.error());
  }
  std::string hash;
  const auto simulation = simulate_plan(context, command, *inputs, hash);
  if (!simulation) {
    return context.report(simulation.error());
  }
  if (!command.trace.empty()) {
    if (auto saved = save_trace(command.trace, simulation->trace); !saved) {
      return context.report(saved.error());
    }
  }
  if (context.json) {
    *context.out << to_json(simulation->summary, hash).dump(2) << "\n";
  } else {
    print(*context.out, inputs->plan, simulation->summary);
  }
  return ExitCode::kSuccess;
}

}  // namespace

void add_simulate_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "simulate", "Time one training step of a plan, action by action, without running it");
  auto options = std::make_shared<SimulateCommand>();
  command->add_option("plan", options->plan, "Plan file (*.plan.json)")->required();
  command->add_option("--model", options->model, "Model instead of the one that the plan names");
  command->add_option(
      "--cluster", options->cluster, "Cluster instead of the one that the plan names");
  command->add_option(
      "--profile", options->profile, "Measured times that go before the cost model");
  command->add_option("--trace",
                      options->trace,
                      "Write the predicted timeline (Chrome/Perfetto JSON; *.swtrace: binary)");
  command->add_option("--schedule-out",
                      options->schedule_out,
                      "Write the lowered schedule: every rank's actions and operations");
  command->add_flag("--all-ranks",
                    options->all_ranks,
                    "Put every rank into the trace, not one of those alike (default up to 64)");
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
