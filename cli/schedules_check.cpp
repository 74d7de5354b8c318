#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/list_report.h"
#include "cli/path_check.h"
#include "cli/schedule_costs.h"
#include "cli/schedule_source.h"

namespace stagewright {
namespace {

struct CheckCommand {
  std::string file;
  CostOptions costs;
};

ExitCode run(const Context& context, const CheckCommand& command) {
  const auto list = load_list(command.file);
  if (!list) {
    return context.report(list.error());
  }
  const auto prices = prices_for(command.costs, list->list);
  if (!prices) {
    return context.report(prices.error());
  }
  const OrderCheck check = check_order(list->list, prices->costs);
  if (context.json) {
    *context.out << json_text(to_json(check, *prices));
  } else {
    *context.out << to_text(check, *prices);
  }
  return check.fault ? ExitCode::kCheckFailed : ExitCode::kSuccess;
}

}  // namespace

void add_schedules_check_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "check",
      "Check a schedule's list, its own or another program's: structure, times, peaks, deadlocks");
  auto options = std::make_shared<CheckCommand>();
  command
      ->add_option(
          "file", options->file, "Schedule vector (JSON) or CSV of torch.distributed.pipelining")
      ->required()
      ->check(path_given);
  add_cost_options(*command, options->costs);
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
