#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/list_report.h"
#include "cli/path_check.h"
#include "cli/schedule_costs.h"
#include "cli/schedule_source.h"

namespace stagewright {
namespace {

constexpr const char* kNoTransfers =
    "\ncommunication was not examined: the list has no sends and receives, so that nothing is said "
    "of deadlocks\namong them\n";

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
    nlohmann::json json = to_json(check, *prices);
    json["ranks"] = list->list.ranks.size();
    json["stages"] = list->list.stages;
    json["micro_batches"] = list->list.micro_batches;
    *context.out << json_text(json);
  } else {
    *context.out << fmt::format("{}: {} ranks, {} stages, {} micro-batches; {}\n\n{}",
                                list->name,
                                list->list.ranks.size(),
                                list->list.stages,
                                list->list.micro_batches,
                                prices->text,
                                to_text(check, *prices));
    if (!check.fault && check.queues.empty()) {
      *context.out << kNoTransfers;
    }
  }
  return check.runs() ? ExitCode::kSuccess : ExitCode::kCheckFailed;
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
