#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/list_memory.h"
#include "cli/output_files.h"
#include "cli/schedule_source.h"
#include "cli/table.h"
#include "core/base/file.h"
#include "formats/pytorch_csv.h"
#include "formats/schedule_vector.h"
#include "planner/lower/lowered_list.h"
#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

ExitCode list_schedules(const Context& context) {
  if (context.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const ScheduleGenerator& schedule : schedule_generators()) {
      all.push_back({{"name", schedule.name},
                     {"aliases", schedule.aliases},
                     {"summary", schedule.summary},
                     {"bubble", schedule.figures.bubble},
                     {"peak_activations", schedule.figures.peak},
                     {"weight_copies", schedule.figures.weights},
                     {"constraints", schedule.figures.constraints},
                     {"parameters", schedule.parameters},
                     {"virtual_stages", schedule.default_virtual_stages}});
    }
    *context.out << json_text(all);
    return ExitCode::kSuccess;
  }
  Table table({"schedule", "bubble", "peak activations", "weights", "constraints"});
  for (const ScheduleGenerator& schedule : schedule_generators()) {
    table.add({std::string(schedule.name),
               std::string(schedule.figures.bubble),
               std::string(schedule.figures.peak),
               std::string(schedule.figures.weights),
               std::string(schedule.figures.constraints)});
  }
  *context.out
      << table.to_string()
      << "\nP ranks, M micro-batches, in groups of G (P where it divides M), V stages a rank, r "
         "the "
         "rank; bubble as idle time and peak in micro-batches of a stage;\nF, B, I, W: a stage's "
         "forward, backward and its input and weight halves, F&B an overlapped pair.\nBubbles are "
         "those of equal stages without transfer times, where the backward is split with I and W "
         "about as long as F;\n`schedules compare` tells them for other costs.\n";
  return ExitCode::kSuccess;
}

struct EmitCommand {
  std::string schedule;
  OrderOptions order;
  CostOptions costs;
  bool lowered = false;  ///< with sends and receives
  std::string format;    ///< empty: csv, or json under --json
  std::string out;
};

Result<std::string> emit(const EmitCommand& command) {
  if (const auto generator = find_schedule(command.schedule);
      generator && !generator->synthesised && command.costs.any()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the order of schedule '{}' does not depend on costs; leave them out, "
                            "or take 'synth'",
                            generator->name),
                "--costs");
  }
  const Result<NamedOrder> made = generate_order(command.schedule,
                                                 command.order,
                                                 command.costs,
                                                 command.lowered ? kLoweredTextBytes : kTextBytes);
  if (!made) {
    return fail(made.error().code, made.error().message, made.error().where);
  }
  const Result<TokenList> list =
      command.lowered ? lowered_list(made->order) : Result<TokenList>(token_list(made->order));
  if (!list) {
    return fail(list.error().code, list.error().message, list.error().where);
  }
  return command.format == "json" ? write_schedule_vector(*list, made->name)
                                  : write_pytorch_csv(*list);
}

ExitCode run_emit(const Context& context, EmitCommand command) {
  if (context.json && command.format == "csv") {
    return context.report({ErrorCode::kInvalidInput,
                           "--json asks for the other format; leave one of them out",
                           "--format csv"},
                          ExitCode::kUsage);
  }
  if (context.json) {
    command.format = "json";
  }
  const Result<std::string> text = emit(command);
  if (!text) {
    return context.report(text.error());
  }
  if (command.out.empty()) {
    *context.out << *text;
    return ExitCode::kSuccess;
  }
  if (const auto written = write_file(command.out, *text); !written) {
    return context.report(written.error());
  }
  if (context.json) {
    *context.out << json_text({{"files", {{"schedule", command.out}}}});
  }
  return ExitCode::kSuccess;
}

void add_emit_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("emit", "Write a schedule's order of actions, a line per rank");
  auto options = std::make_shared<EmitCommand>();
  command->add_option("schedule", options->schedule, "Name, as `schedules list` shows")->required();
  add_order_options(*command, options->order);
  add_cost_options(*command, options->costs);
  command->get_option("--ranks")->required();
  command->get_option("--chunks")->required();
  command->add_flag("--lowered",
                    options->lowered,
                    "With sends and receives in one order of all transfers; pairs one by one");
  command
      ->add_option(
          "--format",
          options->format,
          "csv (torch.distributed.pipelining; the default) or json (the default with --json)")
      ->check(CLI::IsMember({"csv", "json"}));
  add_output_option(*command, "--out", options->out, "File to write instead of the output");
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run_emit(context, *options); };
  });
}

}  // namespace

void add_schedules_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "schedules", "Pipeline schedules: list them, write their orders, check any");
  command->require_subcommand(1);
  command->add_subcommand("list", "All schedules with bubble, memory, weights and constraints")
      ->callback([&chosen] { chosen = list_schedules; });
  add_schedules_compare_command(*command, chosen);
  add_emit_command(*command, chosen);
  add_schedules_check_command(*command, chosen);
  add_schedules_synthesise_command(*command, chosen);
}

}  // namespace stagewright
