#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/table.h"
#include "core/base/file.h"
#include "core/base/suggest.h"
#include "formats/pytorch_csv.h"
#include "formats/schedule_vector.h"
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
    *context.out << all.dump(2) << "\n";
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
      << "\nP ranks, M micro-batches, V stages a rank, r the rank; bubble as idle time and "
         "peak in micro-batches of a stage;\nF, B, I, W: a stage's forward, backward and "
         "its input and weight halves, F&B an overlapped pair.\n";
  return ExitCode::kSuccess;
}

struct EmitCommand {
  std::string schedule;
  std::int32_t ranks = 1;
  std::int32_t micro_batches = 1;
  std::optional<std::int32_t> virtual_stages;
  std::optional<std::int64_t> group;
  std::vector<std::string> parameters;
  std::string format = "csv";
  std::string out;
};

Result<std::map<std::string, std::int64_t>> read_parameters(const EmitCommand& command,
                                                            const ScheduleGenerator& generator) {
  std::map<std::string, std::int64_t> parameters;
  if (command.group) {
    parameters["group"] = *command.group;
  }
  for (const std::string& text : command.parameters) {
    const std::size_t equals = text.find('=');
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    if (equals == std::string::npos ||
        std::from_chars(text.data() + equals + 1, end, value).ptr != end ||
        equals + 1 == text.size()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' sets nothing; write NAME=NUMBER", text),
                  "--parameter");
    }
    parameters[text.substr(0, equals)] = value;
  }
  for (const auto& [name, value] : parameters) {
    const auto known = generator.parameters;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("schedule '{}' has no parameter '{}'{}",
                              generator.name,
                              name,
                              known.empty() ? "; it has none" : suggestion(name, known)),
                  "--parameter");
    }
  }
  return parameters;
}

/// Keeps a slip of the keyboard from filling the memory.
Result<void> check_size(const EmitCommand& command, const ScheduleGenerator& generator) {
  constexpr double kMostActions = 1e8;
  const double actions = 3.0 * command.ranks * command.micro_batches *
                         command.virtual_stages.value_or(generator.default_virtual_stages);
  if (actions > kMostActions) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("a list of about {:.0f} actions is more than {:.0f}; take fewer "
                            "ranks, micro-batches or virtual stages",
                            actions,
                            kMostActions),
                "--chunks");
  }
  return {};
}

Result<std::string> emit(const EmitCommand& command) {
  Result<ScheduleGenerator> generator = find_schedule(command.schedule);
  if (!generator) {
    return fail(generator.error().code, generator.error().message);
  }
  if (auto fits = check_size(command, *generator); !fits) {
    return pass_on(std::move(fits));
  }
  auto parameters = read_parameters(command, *generator);
  if (!parameters) {
    return pass_on(std::move(parameters));
  }
  const Result<PipelineOrder> order = generator->generate(
      {.ranks = command.ranks,
       .virtual_stages = command.virtual_stages.value_or(generator->default_virtual_stages),
       .micro_batches = command.micro_batches,
       .parameters = *std::move(parameters)});
  if (!order) {
    return fail(order.error().code, order.error().message);
  }
  const TokenList list = token_list(*order);
  return command.format == "json" ? write_schedule_vector(list, generator->name)
                                  : write_pytorch_csv(list);
}

ExitCode run_emit(const Context& context, const EmitCommand& command) {
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
  return ExitCode::kSuccess;
}

void add_emit_command(CLI::App& app, Chosen& chosen) {
  // Indices of stages and micro-batches are 32 bits wide.
  constexpr std::int32_t kMostRanks = 1 << 16;
  constexpr std::int32_t kMostMicroBatches = 1 << 20;
  constexpr std::int32_t kMostVirtualStages = 1 << 10;
  CLI::App* command =
      app.add_subcommand("emit", "Write a schedule's order of actions, a line per rank");
  auto options = std::make_shared<EmitCommand>();
  command->add_option("schedule", options->schedule, "Name, as `schedules list` shows")->required();
  command->add_option("--ranks", options->ranks, "Pipeline ranks (P)")
      ->required()
      ->check(CLI::Range(1, kMostRanks));
  command->add_option("--chunks,--micro-batches", options->micro_batches, "Micro-batches (M)")
      ->required()
      ->check(CLI::Range(1, kMostMicroBatches));
  command
      ->add_option(
          "--virtual", options->virtual_stages, "Stages per rank (V); as the schedule needs")
      ->check(CLI::Range(1, kMostVirtualStages));
  command->add_option("--group", options->group, "Micro-batches per group of interleaved schedules")
      ->check(CLI::PositiveNumber);
  command->add_option(
      "--parameter", options->parameters, "Another parameter of the schedule: NAME=NUMBER");
  command->add_option("--format", options->format, "csv (torch.distributed.pipelining) or json")
      ->check(CLI::IsMember({"csv", "json"}));
  command->add_option("--out", options->out, "File to write instead of the output");
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
}

}  // namespace stagewright
