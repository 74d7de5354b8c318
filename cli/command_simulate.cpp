#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/framework_option.h"
#include "cli/output_files.h"
#include "cli/path_check.h"
#include "cli/simulate_command.h"

namespace stagewright {
namespace {

struct SimulateCommand {
  SimulatePlanOptions plan;
  SimulateListOptions list;
  SimulateReports reports = make_simulate_reports();
};

void add_plan_options(CLI::App& command, SimulatePlanOptions& options) {
  command.add_option("plan", options.plan, "Plan file (*.plan.json)")->check(path_given);
  command.add_option("--model", options.model, "Model instead of the one that the plan names")
      ->check(value_given);
  command
      .add_option("--cluster", options.cluster, "Cluster instead of the one that the plan names")
      ->check(value_given);
  add_framework_option(command, options.framework);
  command.add_option("--profile", options.profile, "Measured times that go before the cost model")
      ->check(path_given);
  add_output_option(command,
                    "--schedule-out",
                    options.schedule_out,
                    "Write the lowered schedule: every rank's actions and operations");
  command.add_flag("--all-ranks",
                   options.all_ranks,
                   "Put every rank into the trace, not one of those alike (default up to 64)");
}

void add_list_options(CLI::App& command, SimulateListOptions& options) {
  add_order_options(command, options.order);
  add_cost_options(command, options.costs);
  command
      .add_option("--queues",
                  options.queues,
                  "Time the list's own sends and receives, queued by rank, pair, dir, kind or "
                  "channel (without: transfers do not wait for each other)")
      ->check(CLI::IsMember({"rank", "pair", "dir", "kind", "channel"}));
}

/// The options of a command that were added after the first `before`.
std::vector<CLI::Option*> options_after(CLI::App& command, std::size_t before) {
  auto options = command.get_options();
  options.erase(options.begin(), options.begin() + static_cast<std::ptrdiff_t>(before));
  return options;
}

/// A plan brings its own schedule and costs, a bare schedule has neither model nor cluster.
void add_both(CLI::App& command, SimulateCommand& options) {
  const std::size_t first = command.get_options().size();
  add_plan_options(command, options.plan);
  const std::vector<CLI::Option*> of_plans = options_after(command, first);
  CLI::Option* schedule = command.add_option(
      "--schedule",
      options.list.schedule,
      "Instead of a plan: a schedule's name with --ranks and --chunks, or a file with its list "
      "(CSV of torch.distributed.pipelining, or a schedule vector; - for the standard input)");
  schedule->check(path_given);
  const std::size_t second = command.get_options().size();
  add_list_options(command, options.list);
  CLI::Option* const cap = command.get_option("--memory-cap");
  for (CLI::Option* option : options_after(command, second)) {
    if (option != cap) {
      option->needs(schedule)->group("Bare schedules");
    }
  }
  cap->description(
      "Fail where a rank holds more: of a plan what a device may hold (70GiB); of a list "
      "micro-batches of a stage until W, one number or one for each rank, within which synth "
      "searches");
  schedule->group("Bare schedules");
  for (CLI::Option* option : of_plans) {
    schedule->excludes(option);
  }
}

}  // namespace

void add_simulate_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "simulate",
      "Time one training step of a plan, or a bare schedule, action by action, without running it");
  auto options = std::make_shared<SimulateCommand>();
  add_both(*command, *options);
  for (const auto& report : options->reports) {
    report->add_options(*command);
  }
  command->callback([options, &chosen] {
    if (options->plan.plan.empty() && options->list.schedule.empty()) {
      throw CLI::RequiredError("A plan file, or --schedule NAME");
    }
    if (options->plan.all_ranks && detail_for(options->reports) == TraceDetail::kNone) {
      throw CLI::RequiredError("One of --trace, --svg and --timeline, for --all-ranks");
    }
    chosen = [options](const Context& context) {
      if (auto checked = check_options(options->reports); !checked) {
        return context.report(checked.error());
      }
      options->plan.memory_cap = options->list.order.synthesis.memory_cap;
      return options->list.schedule.empty()
                 ? simulate_plan(context, options->plan, options->reports)
                 : simulate_list(context, options->list, options->reports);
    };
  });
}

}  // namespace stagewright
