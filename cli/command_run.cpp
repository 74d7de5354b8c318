#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/json_text.h"
#include "cli/number_check.h"
#include "cli/output_files.h"
#include "cli/path_check.h"
#include "cli/run_health.h"
#include "cli/run_place.h"
#include "cli/run_proxy.h"
#include "cli/runnable_plans.h"
#include "cli/schedule_to_run.h"
#include "cli/table.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "core/schedule/lifetimes.h"
#include "runtime/trainer/trainer.h"
#include "runtime/trainer/virtual_clock.h"
#include "sim/analysis/order_statistics.h"
#include "sim/engine/static_pass.h"
#include "study/plan_inputs.h"

namespace stagewright {
namespace {

struct RunCommand {
  std::string plan;
  std::string model;
  std::string cluster;
  std::string schedule;
  std::string profile;
  std::string trace;
  std::string live_trace;
  std::string metrics;
  bool proxy = false;
  double timeout_s = 60;
  std::string clock = "wall";
  std::string rate_decay{name_of(RateDecay::kConstant)};
  std::optional<std::int32_t> decay_steps;
  std::vector<std::string> groups;
  RunOptions options;
  RunPlaceOptions where;
  RunPlace place;
};

/// "NAMES=RATE" or "NAMES=RATE,DECAY".
Result<ParameterGroup> parse_group(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals != std::string::npos && equals > 0) {
    const std::size_t comma = text.find(',', equals);
    ParameterGroup group;
    group.names = text.substr(0, equals);
    const auto rate = parse_number(text.substr(equals + 1, comma - equals - 1));
    if (comma != std::string::npos) {
      group.weight_decay = parse_number(text.substr(comma + 1));
    }
    if (rate && (comma == std::string::npos || group.weight_decay)) {
      group.rate = *rate;
      return group;
    }
  }
  return fail(ErrorCode::kInvalidInput,
              fmt::format("'{}' is no group of parameters; write NAMES=RATE or NAMES=RATE,DECAY, "
                          "as in '*.bias=1,0'",
                          text),
              "--group");
}

/// The learning rate as the options say; without a number of steps it falls to the end of the run.
RateSchedule rate_of(const RunCommand& command) {
  RateSchedule rate = command.options.rate;
  rate.decay = rate_decay_named(command.rate_decay).value_or(RateDecay::kConstant);
  rate.decay_steps =
      command.decay_steps.value_or(std::max(command.options.steps - rate.warmup_steps, 1));
  return rate;
}

/// The median step without the first, which pays for warming up (where there are others).
Duration typical_step(const Trace& trace) {
  const std::ptrdiff_t skip = trace.step_times.size() > 1 ? 1 : 0;
  const std::vector<Duration> times(trace.step_times.begin() + skip, trace.step_times.end());
  return times.empty() ? Duration{} : median(times);
}

/// On the clock that was asked for.
const Trace& shown_trace(const RunReport& report) {
  return report.virtual_trace ? *report.virtual_trace : report.trace;
}

nlohmann::json in_seconds(const std::vector<Duration>& times) {
  nlohmann::json seconds = nlohmann::json::array();
  for (const Duration time : times) {
    seconds.push_back(to_seconds(time));
  }
  return seconds;
}

nlohmann::json to_json(const RunReport& report) {
  nlohmann::json memory = nlohmann::json::array();
  for (const MemoryPeaks& peaks : report.memory) {
    memory.push_back(peaks.total.count());
  }
  const Trace& shown = shown_trace(report);
  const Duration step = typical_step(shown);
  return {{"schedule_hash", report.trace.schedule_hash},
          {"plan", report.trace.plan_summary},
          {"clock", shown.clock},
          {"step_times_s", in_seconds(shown.step_times)},
          {"median_step_time_s", to_seconds(step)},
          {"wall_step_times_s", in_seconds(report.trace.step_times)},
          {"tokens_per_s",
           step.count() > 0 ? static_cast<double>(report.trace.tokens_per_step) / to_seconds(step)
                            : 0.0},
          {"losses", report.trace.losses},
          {"gradient_norms", report.trace.gradient_norms},
          {"peak_memory_bytes", std::move(memory)},
          {"device_notes", report.device_notes},
          {"skipped_steps", report.skipped_steps},
          {"loss_scale", report.loss_scale},
          {"stopped", report.stopped}};
}

void sign(Trace& trace, const Plan& plan, const Context& context) {
  trace.plan_summary = summary(plan);
  trace.made_by["program"] = "stagewright " + std::string(version());
  trace.made_by["command"] = context.command_line;
}

/// What stands in the command line otherwise than in the options of a run.
Result<void> take_numbers(RunCommand& command) {
  RunOptions& options = command.options;
  options.timeout = from_seconds(command.timeout_s);
  options.rate = rate_of(command);
  options.virtual_clock = command.clock == "virtual";
  options.groups.clear();
  for (const std::string& text : command.groups) {
    auto group = parse_group(text);
    if (!group) {
      return pass_on(std::move(group));
    }
    options.groups.push_back(std::move(*group));
  }
  return {};
}

/// The step as the simulator sees it; nothing where it cannot be priced.  Fails for a profile that
/// cannot be read.
Result<std::optional<Summary>> predicted(const DataFiles& files,
                                         const RunCommand& command,
                                         const PlanInputs& inputs,
                                         const Schedule& schedule) {
  auto profile = load_profile(command.profile);
  if (!profile) {
    return pass_on(std::move(profile));
  }
  const auto cost = make_cost(
      files, inputs.model, inputs.cluster, inputs.plan, "stagewright", *std::move(profile));
  if (!cost) {
    return std::optional<Summary>();
  }
  const std::int64_t tokens = std::int64_t{schedule.replicas} * schedule.micro_batches *
                              schedule.micro_batch_size * schedule.sequence;
  auto simulation =
      simulate(schedule,
               inputs.cluster,
               **cost,
               {.trace = TraceDetail::kNone,
                .sign_trace = false,
                .model_flops = model_flops(inputs.model, tokens, inputs.plan.sequence)});
  return simulation ? std::optional(std::move(simulation->summary)) : std::nullopt;
}

/// Most bytes that the tensors of a rank take at once.
Bytes largest_memory(const Schedule& schedule) {
  Bytes largest{};
  for (const RankProgram& program : schedule.programs) {
    largest = std::max(largest, memory_peaks(program, lifetimes(program)).total);
  }
  return largest;
}

/// A run, and what is told beside it where it was one of a proxy.
struct Trained {
  RunReport report;
  std::optional<ProxyRun> proxy;
};

Result<RunReport> execute(const Context& context,
                          const DataFiles& files,
                          RunCommand& command,
                          const PlanInputs& inputs) {
  if (auto devices = check_devices_run(inputs.cluster, inputs.plan);
      !devices && command.where.device == "cpu") {
    return fail(devices.error().code, devices.error().message, command.plan + ":/cluster");
  }
  auto schedule = schedule_to_run(inputs, command.plan, command.schedule);
  if (!schedule) {
    return pass_on(std::move(schedule));
  }
  RunOptions& options = command.options;
  auto expected = predicted(files, command, inputs, *schedule);
  if (!expected) {
    return pass_on(std::move(expected));
  }
  RunHealth health(*std::move(expected), largest_memory(*schedule));
  if (auto chosen = go_to(command.place, context, *schedule, command.plan, options); !chosen) {
    return pass_on(std::move(chosen));
  }
  MetricsOutput metrics(command.place.reports() ? command.metrics : "", *context.out);
  options.on_step = [&](const StepProgress& progress) {
    health.add(progress);
    metrics.add(health.metrics_line());
    context.progress(health.progress_text());
  };
  std::optional<Error> not_written;
  if (!command.live_trace.empty()) {
    options.on_live_trace = [&](const Trace& trace) {
      if (auto written = save_trace(command.live_trace, trace); !written) {
        not_written = std::move(written).error();
      }
    };
  }
  auto report = stagewright::run(*schedule, options);
  context.progress("");
  if (auto written = metrics.finish(); !written) {
    return pass_on(std::move(written));
  }
  if (not_written && report) {
    return tl::unexpected<Error>(*std::move(not_written));
  }
  if (report) {
    sign(report->trace, inputs.plan, context);
    if (report->virtual_trace) {
      sign(*report->virtual_trace, inputs.plan, context);
    }
  }
  return report;
}

Result<Trained> train(const Context& context, RunCommand& command) {
  if (auto place = find_run_place(command.where, !command.live_trace.empty())) {
    command.place = *std::move(place);
  } else {
    return tl::unexpected<Error>(place.error());
  }
  if (command.proxy && command.place.launch) {
    return fail(ErrorCode::kUnsupported,
                "trains with threads of one process; unset RANK and WORLD_SIZE",
                "--proxy");
  }
  const auto files = context.files();
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  auto inputs = load_plan(*files, command.plan, command.model, command.cluster);
  if (!inputs) {
    return pass_on(std::move(inputs));
  }
  std::optional<Proxy> proxy;
  if (command.proxy) {
    auto made = proxy_for(*files, *inputs, command.options.data.string());
    if (!made) {
      return pass_on(std::move(made));
    }
    inputs = made->inputs;
    proxy = *std::move(made);
  }
  const InterruptGuard interrupt;
  RunOptions& options = command.options;
  if (auto taken = take_numbers(command); !taken) {
    return pass_on(std::move(taken));
  }
  options.stop = &InterruptGuard::requested();
  auto report = execute(context, *files, command, *inputs);
  if (!report) {
    return pass_on(std::move(report));
  }
  Trained trained{*std::move(report), std::nullopt};
  if (proxy && !trained.report.stopped) {
    auto alone = against_one_rank(*files, *proxy, options, trained.report.trace.losses);
    if (!alone) {
      return pass_on(std::move(alone));
    }
    trained.proxy = *std::move(alone);
  }
  return trained;
}

/// `apart`: each rank had a process, and a device, of its own.
void print(std::ostream& out, const RunReport& report, bool apart) {
  const Trace& trace = report.trace;
  out << trace.plan_summary << "\n\n";
  Table table({"step", "loss", "gradient norm", "wall time"});
  const std::size_t steps = trace.step_times.size();
  const std::size_t stride = std::max<std::size_t>(1, steps / 10);
  for (std::size_t i = 0; i < steps; ++i) {
    if (i % stride == 0 || i + 1 == steps) {
      table.add(
          {fmt::format("{}", i),
           i < trace.losses.size() ? fmt::format("{:.6f}", trace.losses[i]) : "-",
           i < trace.gradient_norms.size() ? fmt::format("{:.5f}", trace.gradient_norms[i]) : "-",
           to_string(trace.step_times[i])});
    }
  }
  out << table.to_string();
  const Trace& shown = shown_trace(report);
  const Duration step = typical_step(shown);
  const auto fullest = std::ranges::max_element(report.memory, {}, &MemoryPeaks::total);
  out << fmt::format(
      "\nmedian step {} ({} clock), {} tokens/s, largest rank memory {}{}{}\n",
      to_string(step),
      shown.clock,
      step.count() > 0 ? count_text(static_cast<double>(trace.tokens_per_step) / to_seconds(step))
                       : "0",
      fullest == report.memory.end() ? "unknown" : to_string(fullest->total),
      report.skipped_steps > 0 ? fmt::format("; {} steps skipped, whose loss or norm was no number",
                                             report.skipped_steps)
                               : "",
      report.stopped ? "; stopped early" : "");
  for (const std::string& note : report.device_notes) {
    out << note << '\n';
  }
  if (!apart && !report.virtual_trace && share_cores(static_cast<std::size_t>(trace.ranks))) {
    out << "the ranks share cores, so that wall times of single actions mean little; --clock "
           "virtual replays their thread times\n";
  }
}

ExitCode run_command(const Context& context, RunCommand& command) {
  const auto trained = train(context, command);
  if (!trained) {
    tell_others(command.place, trained.error());
    return context.report(trained.error());
  }
  const RunReport& report = trained->report;
  if (!command.place.reports()) {
    return report.stopped ? ExitCode::kInterrupted : ExitCode::kSuccess;
  }
  if (!command.trace.empty()) {
    if (auto saved = save_trace(command.trace, shown_trace(report)); !saved) {
      return context.report(saved.error());
    }
  }
  if (context.json) {
    nlohmann::json json = to_json(report);
    if (trained->proxy) {
      json["proxy"] = to_json(*trained->proxy);
    }
    *context.out << json_text(json);
  } else {
    print(*context.out, report, command.place.launch.has_value());
    if (trained->proxy) {
      print(*context.out, *trained->proxy);
    }
  }
  return report.stopped ? ExitCode::kInterrupted : ExitCode::kSuccess;
}

/// How weights change.
void add_training_options(CLI::App* command, RunCommand* options) {
  command->add_option("--steps", options->options.steps, "Optimizer steps")
      ->check(positive_count)
      ->capture_default_str();
  command->add_option("--seed", options->options.seed, "Of the initial weights and the sampling")
      ->check(seed_number);
  command
      ->add_option("--warmup-steps",
                   options->options.rate.warmup_steps,
                   "Steps in which the learning rate rises linearly to the plan's")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--rate-decay",
                   options->rate_decay,
                   "How the learning rate falls behind those: constant, linear or cosine")
      ->check(CLI::IsMember({"constant", "linear", "cosine"}))
      ->capture_default_str();
  command
      ->add_option("--decay-steps",
                   options->decay_steps,
                   "Steps in which it falls (default: to the end of the run)")
      ->check(positive_count);
  command
      ->add_option("--minimum-rate",
                   options->options.rate.minimum,
                   "Where it ends, as a part of the plan's learning rate")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--group",
                      options->groups,
                      "NAMES=RATE[,DECAY]: parameters with a multiple of the learning rate and a "
                      "weight decay of their own; repeatable");
  command
      ->add_option("--token-width", options->options.token_width, "Bytes of a token in a .bin file")
      ->check(CLI::IsMember({2, 4}));
}

/// What runs, and where.
void add_place_options(CLI::App* command, RunCommand* options) {
  command->add_option("--model", options->model, "Model instead of the one that the plan names");
  command->add_option(
      "--cluster", options->cluster, "Cluster instead of the one that the plan names (1xNxcpu)");
  command
      ->add_option("--schedule",
                   options->schedule,
                   "Execute this schedule file instead of lowering the plan")
      ->check(path_given);
  command
      ->add_flag("--proxy",
                 options->proxy,
                 "Train a small model by a plan of the same shape that fits on this machine, and "
                 "one rank beside it, to see how the layout converges")
      ->excludes(command->get_option("--schedule"));
  add_options(*command, options->where);
  command
      ->add_option("--clock",
                   options->clock,
                   "Of the reported step times and the trace: wall, or virtual (thread times "
                   "replayed as if every rank had a core), for more ranks than cores")
      ->check(CLI::IsMember({"wall", "virtual"}))
      ->capture_default_str();
}

/// What is told and written.
void add_report_options(CLI::App* command, RunCommand* options) {
  command
      ->add_option("--profile",
                   options->profile,
                   "Measured times, for the prediction that the metrics are beside")
      ->check(path_given);
  command
      ->add_option("--check-replicas",
                   options->options.check_replicas_every,
                   "Steps from one comparison of what ranks have alike to the next; 0: never")
      ->check(non_negative_count)
      ->capture_default_str();
  add_output_option(*command,
                    "--trace",
                    options->trace,
                    "Write the measured timeline (Chrome/Perfetto JSON; *.swtrace: binary)");
  add_output_option(*command,
                    "--live-trace",
                    options->live_trace,
                    "While it runs: write the timeline of a step that has ended, over and over");
  add_output_option(*command,
                    "--metrics",
                    options->metrics,
                    "Write a JSON line per step; -: to standard output, as each step ends");
  command
      ->add_option("--timeout",
                   options->timeout_s,
                   "Seconds that a rank may wait for another before the run fails")
      ->check(seconds_number)
      ->capture_default_str();
}

}  // namespace

void add_run_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("run", "Train by a plan for real, with ranks as threads of this machine");
  auto options = std::make_shared<RunCommand>();
  command->add_option("plan", options->plan, "Plan file (*.plan.json)")
      ->required()
      ->check(path_given);
  command
      ->add_option("--data",
                   options->options.data,
                   "Text file, folder of text files, or tokens (*.bin); not for models of images")
      ->check(path_given);
  add_training_options(command, options.get());
  add_place_options(command, options.get());
  add_report_options(command, options.get());
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run_command(context, *options); };
  });
}

}  // namespace stagewright
