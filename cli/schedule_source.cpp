#include "cli/schedule_source.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/comma_list.h"
#include "cli/list_memory.h"
#include "core/base/file.h"
#include "core/base/suggest.h"
#include "formats/token_list_file.h"
#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

using Parameters = std::map<std::string, std::int64_t>;

Result<Parameters> read_parameters(const OrderOptions& options,
                                   const ScheduleGenerator& generator) {
  Parameters parameters;
  if (options.group) {
    parameters["group"] = *options.group;
  }
  for (const std::string& text : options.parameters) {
    const std::size_t equals = text.find('=');
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    if (equals == std::string::npos || equals + 1 == text.size()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' sets nothing; write NAME=NUMBER", text),
                  "--parameter");
    }
    const auto [stop, problem] = std::from_chars(text.data() + equals + 1, end, value);
    if (stop != end || problem != std::errc{}) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' sets no whole number; write NAME=NUMBER", text),
                  "--parameter");
    }
    const std::string name = text.substr(0, equals);
    if (!parameters.emplace(name, value).second) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format("'{}' sets {} again; give each parameter once, --group included", text, name),
          "--parameter");
    }
  }
  for (const auto& [name, value] : parameters) {
    const auto known = generator.parameters;
    if (!generator.has_parameter(name)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("schedule '{}' has no parameter '{}'{}",
                              generator.name,
                              name,
                              known.empty() ? "; it has none" : suggestion(name, known)),
                  name == "group" && options.group ? "--group" : "--parameter");
    }
  }
  return parameters;
}

/// The option that was given for what the parameter of `synth` says, too; empty if none was.
std::string_view option_for(std::string_view parameter,
                            const SynthesisOptions& synthesis,
                            const CostOptions& costs) {
  const std::string_view name = parameter.substr(0, parameter.find('.'));
  if (name == "cap" && !synthesis.memory_cap.empty()) {
    return "--memory-cap";
  }
  if (name == "span" && synthesis.span) {
    return "--span";
  }
  if (name == "effort" && synthesis.effort) {
    return "--effort";
  }
  if (name == "transfer" && costs.transfer != 0) {
    return "--transfer";
  }
  const bool cost = name == "f" || name == "i" || name == "w" || name == "b" || name == "r";
  return cost && !costs.costs.empty() ? "--costs" : "";
}

/// The option that sets a key of a plan: "plan:/micro_batches" is `--chunks` here.
std::string_view option_of_key(std::string_view key,
                               const OrderOptions& options,
                               const CostOptions& costs) {
  constexpr std::string_view kParameters = "plan:/schedule_parameters/";
  if (key == "plan:/micro_batches") {
    return "--chunks";
  }
  if (key == "plan:/virtual_stages") {
    return "--virtual";
  }
  if (key == "plan:/stages") {
    return "--ranks";
  }
  if (!key.starts_with(kParameters)) {
    return {};
  }
  key.remove_prefix(kParameters.size());
  if (key == "group" && options.group) {
    return "--group";
  }
  const std::string_view option = option_for(key, options.synthesis, costs);
  return option.empty() ? "--parameter" : option;
}

/// The error of a schedule as one of the command line: its places are keys of a plan, one or more.
Error with_options(const Error& error, const OrderOptions& options, const CostOptions& costs) {
  std::string where;
  for (const std::string_view key : comma_list(error.where)) {
    const std::string_view option =
        option_of_key(key.substr(std::min(key.find_first_not_of(' '), key.size())), options, costs);
    if (!option.empty() && where.find(option) == std::string::npos) {
      where += (where.empty() ? "" : ", ") + std::string(option);
    }
  }
  return {error.code, error.message, where};
}

/// What `synth` searches for, where the parameters do not say otherwise already.
Result<void> add_synthesis(const ScheduleGenerator& generator,
                           const OrderOptions& options,
                           const CostOptions& costs,
                           PipelineShape& shape) {
  if (!generator.synthesised) {
    if (options.synthesis.any()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("the order of schedule '{}' is fixed; --memory-cap, --span and "
                              "--effort are for 'synth'",
                              generator.name));
    }
    return {};
  }
  Result<Parameters> searched = synthesis_parameters(options.synthesis, costs, shape);
  if (!searched) {
    return pass_on(std::move(searched));
  }
  for (const auto& [name, value] : shape.parameters) {
    if (const auto option = option_for(name, options.synthesis, costs); !option.empty()) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format("{}={} and {} say the same; leave one of them out", name, value, option),
          "--parameter");
    }
  }
  shape.parameters.merge(*std::move(searched));
  return {};
}

}  // namespace

void add_order_options(CLI::App& command, OrderOptions& options) {
  // Indices of stages and micro-batches are 32 bits wide.
  constexpr std::int32_t kMostRanks = 1 << 16;
  constexpr std::int32_t kMostMicroBatches = 1 << 20;
  constexpr std::int32_t kMostVirtualStages = 1 << 10;
  command.add_option("--ranks", options.ranks, "Pipeline ranks (P)")
      ->check(CLI::Range(1, kMostRanks));
  command.add_option("--chunks,--micro-batches", options.micro_batches, "Micro-batches (M)")
      ->check(CLI::Range(1, kMostMicroBatches));
  command
      .add_option("--virtual", options.virtual_stages, "Stages per rank (V); as the schedule needs")
      ->check(CLI::Range(1, kMostVirtualStages));
  command.add_option("--group", options.group, "Micro-batches per group of interleaved schedules")
      ->check(CLI::PositiveNumber);
  command.add_option(
      "--parameter", options.parameters, "Another parameter of the schedule: NAME=NUMBER");
  add_synthesis_options(command, options.synthesis);
}

Result<NamedOrder> generate_order(const std::string& schedule,
                                  const OrderOptions& options,
                                  const CostOptions& costs,
                                  double bytes_an_action) {
  Result<ScheduleGenerator> generator = find_schedule(schedule);
  if (!generator) {
    return fail(generator.error().code, generator.error().message);
  }
  if (!options.ranks || !options.micro_batches) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("schedule '{}' needs its sizes; add --ranks P --chunks M", generator->name),
        options.ranks ? "--chunks" : "--ranks");
  }
  auto parameters = read_parameters(options, *generator);
  if (!parameters) {
    return pass_on(std::move(parameters));
  }
  PipelineShape shape{
      .ranks = *options.ranks,
      .virtual_stages = options.virtual_stages.value_or(generator->default_virtual_stages),
      .micro_batches = *options.micro_batches,
      .parameters = *std::move(parameters)};
  // A forward and two halves of a backward.
  const double actions = 3.0 * shape.ranks * shape.virtual_stages * shape.micro_batches;
  if (auto fits = check_list_fits(actions, bytes_an_action, usable_memory(), "--chunks"); !fits) {
    return pass_on(std::move(fits));
  }
  if (auto searched = add_synthesis(*generator, options, costs, shape); !searched) {
    return pass_on(std::move(searched));
  }
  Result<PipelineOrder> order = generator->generate(shape);
  if (!order) {
    return tl::unexpected(with_options(order.error(), options, costs));
  }
  return NamedOrder{std::string(generator->name), *std::move(order)};
}

Result<NamedList> load_list(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  Result<TokenList> list = parse_token_list(*text, path);
  if (!list) {
    return pass_on(std::move(list));
  }
  return NamedList{path, *std::move(list)};
}

bool names_a_file(const std::string& schedule) {
  std::error_code ignored;
  return schedule.find('/') != std::string::npos || schedule.ends_with(".csv") ||
         schedule.ends_with(".json") || std::filesystem::exists(schedule, ignored);
}

}  // namespace stagewright
