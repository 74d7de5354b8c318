#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/bubble_report.h"
#include "cli/memory_cap.h"
#include "cli/simulate_command.h"
#include "cli/table.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "planner/lower/lower.h"
#include "sim/engine/static_pass.h"
#include "study/plan_inputs.h"

namespace stagewright {
namespace {

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

std::string to_text(const Plan& plan, const Summary& summary) {
  std::string out = stagewright::summary(plan) + "\n\n";
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
  out += table.to_string();
  out += fmt::format("\nstep time {}, {} tokens/s, MFU {}, bubble {}, peak memory {}{}\n",
                     to_string(summary.step_time),
                     count_text(summary.tokens_per_second),
                     summary.mfu ? percent(*summary.mfu) : "unknown",
                     percent(summary.bubble),
                     to_string(summary.peak_memory),
                     summary.fits ? "" : " (does not fit)");
  out +=
      fmt::format("exposed communication (mean over ranks): {}\n", exposed_text(summary.exposed));
  out += fmt::format("{} of the priced time is measured, the rest comes from the cost model\n",
                     percent(summary.measured_share));
  return out;
}

Result<Schedule> lower_plan(const SimulatePlanOptions& command,
                            const PlanInputs& inputs,
                            const RepeatRules& repeats) {
  auto schedule = lower(inputs.model, inputs.cluster, inputs.plan, repeats);
  if (!schedule) {
    return tl::unexpected<Error>(in_plan_file(std::move(schedule).error(), command.plan));
  }
  if (!command.schedule_out.empty()) {
    if (auto written = write_file(command.schedule_out, to_json_text(*schedule)); !written) {
      return pass_on(std::move(written));
    }
  }
  return schedule;
}

Result<Simulation> simulate_step(const Context& context,
                                 const PlanInputs& inputs,
                                 const Schedule& schedule,
                                 const CostModel& cost,
                                 SimulationOptions options) {
  const Plan& plan = inputs.plan;
  options.model_flops =
      model_flops(inputs.model, plan.global_batch() * plan.sequence, plan.sequence);
  auto simulation = simulate(schedule, inputs.cluster, cost, options);
  if (simulation) {
    Trace& trace = simulation->trace;
    trace.plan_summary = summary(plan);
    trace.made_by = {{"program", "stagewright " + std::string(version())},
                     {"command", context.command_line}};
  }
  return simulation;
}

}  // namespace

ExitCode simulate_plan(const Context& context,
                       const SimulatePlanOptions& options,
                       const SimulateReports& reports) {
  const auto files = context.files();
  if (!files) {
    return context.report(files.error());
  }
  const auto inputs = load_plan(*files, options.plan, options.model, options.cluster);
  if (!inputs) {
    return context.report(inputs.error());
  }
  auto profile = load_profile(options.profile);
  if (!profile) {
    return context.report(profile.error());
  }
  const auto repeats = repeats_of(*files, options.framework);
  if (!repeats) {
    return context.report(repeats.error());
  }
  const auto schedule = lower_plan(options, *inputs, *repeats);
  if (!schedule) {
    return context.report(schedule.error());
  }
  const auto cost = make_cost(
      *files, inputs->model, inputs->cluster, inputs->plan, options.framework, *std::move(profile));
  if (!cost) {
    return context.report(cost.error());
  }
  auto simulation =
      simulate_step(context,
                    *inputs,
                    *schedule,
                    **cost,
                    {.trace = detail_for(reports),
                     .trace_all_ranks = options.all_ranks || schedule->ranks.size() <= 64,
                     .explain = true});
  if (!simulation) {
    return context.report(simulation.error());
  }
  const Summary& summary = simulation->summary;
  DeviceCaps caps;
  if (!options.memory_cap.empty()) {
    auto checked = check_caps(options.memory_cap, *schedule, summary);
    if (!checked) {
      return context.report(checked.error());
    }
    caps = *std::move(checked);
  }
  const SimulatedStep step{.title = stagewright::summary(inputs->plan),
                           .unit = usual_unit(summary.step_time),
                           .plan = SimulatedPlan{*inputs, *schedule, **cost, summary},
                           .trace = std::move(simulation->trace)};
  nlohmann::json json = to_json(summary, schedule_hash(*schedule));
  add_explanation(*simulation->bubbles, *simulation->critical_path, json);
  std::string text = to_text(inputs->plan, summary) +
                     explanation_text(*simulation->bubbles, *simulation->critical_path);
  if (!options.schedule_out.empty()) {
    note_written(options.schedule_out, "the lowered schedule", "schedule", json, text);
  }
  if (!options.memory_cap.empty()) {
    text += to_text(caps);
    add_caps(caps, json);
  }
  const ExitCode printed =
      print_with_reports(context, reports, step, std::move(json), std::move(text));
  return printed == ExitCode::kSuccess && !caps.above.empty() ? ExitCode::kCheckFailed : printed;
}

}  // namespace stagewright
