#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/list_report.h"
#include "cli/memory_cap.h"
#include "cli/path_check.h"
#include "cli/schedule_costs.h"
#include "cli/schedule_source.h"

namespace stagewright {
namespace {

constexpr const char* kNoTransfers =
    "\ncommunication was not examined: the list has no sends and receives, so that nothing is said "
    "of deadlocks\namong them (`schedules emit NAME --lowered` writes lists that have them)\n";

struct CheckCommand {
  std::string file;
  std::string memory_cap;  ///< of each rank; empty: none
  CostOptions costs;
};

/// A file that holds no list is told in the keys of a list that is not valid.
ExitCode report_unreadable(const Context& context, const Error& error) {
  if (!context.json) {
    return context.report(error);
  }
  const ExitCode code = exit_code_of(error.code);
  nlohmann::json json = invalid_list_json(error.to_string());
  json["exit_code"] = static_cast<int>(code);
  *context.err << "error: " << error.to_string() << "\n";
  *context.out << json_text(json);
  return code;
}

ExitCode run(const Context& context, const CheckCommand& command) {
  const auto list = load_list(command.file);
  if (!list) {
    return report_unreadable(context, list.error());
  }
  const auto prices = prices_for(command.costs, list->list);
  if (!prices) {
    return context.report(prices.error());
  }
  const auto caps = check_caps(command.memory_cap, list->list);
  if (!caps) {
    return context.report(caps.error());
  }
  const OrderCheck check = check_order(list->list, prices->costs);
  const std::string sizes =
      sizes_text(list->name, list->list.ranks.size(), list->list.stages, list->list.micro_batches);
  if (context.json) {
    nlohmann::json json = to_json(check, *prices);
    json["ranks"] = list->list.ranks.size();
    json["stages"] = list->list.stages;
    json["micro_batches"] = list->list.micro_batches;
    json["warnings"] = list->warnings;
    if (!check.fault) {
      add_caps(*caps, json);
    }
    *context.out << json_text(json);
  } else {
    *context.out << fmt::format("{}; {}\n\n{}{}{}",
                                sizes,
                                prices->text,
                                warnings_text(list->warnings),
                                to_text(check, *prices),
                                check.fault ? "" : to_text(*caps));
    if (!check.fault && check.queues.empty()) {
      *context.out << kNoTransfers;
    }
  }
  return check.runs() && caps->above.empty() ? ExitCode::kSuccess : ExitCode::kCheckFailed;
}

}  // namespace

void add_schedules_check_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "check",
      "Check a schedule's list, its own or another program's: structure, times, peaks, deadlocks");
  auto options = std::make_shared<CheckCommand>();
  command
      ->add_option(
          "file",
          options->file,
          "Schedule vector (JSON) or CSV of torch.distributed.pipelining; - for the standard input")
      ->required()
      ->check(path_given);
  command
      ->add_option("--memory-cap",
                   options->memory_cap,
                   "Micro-batches of a stage that a rank may hold until W; one number or one for "
                   "each rank")
      ->check(value_given);
  add_cost_options(*command, options->costs);
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
