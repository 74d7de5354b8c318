#include "cli/schedule_source.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/comma_list.h"
#include "cli/list_memory.h"
#include "core/base/counted.h"
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

/// The option that says what a parameter of `synth` ("f", "f.2") says of prices; empty if it is
/// none.
std::string_view option_of_price(std::string_view parameter) {
  const std::string_view name = parameter.substr(0, parameter.find('.'));
  const bool cost = name == "f" || name == "i" || name == "w" || name == "b" || name == "r";
  return cost ? "--costs" : name == "transfer" ? "--transfer" : "";
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
  const std::string_view price = option_of_price(parameter);
  const bool given = price == "--transfer" ? costs.transfer != 0 : !costs.costs.empty();
  return given ? price : "";
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
    if (const std::string_view option = option_of_price(name); !option.empty()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{}={} would be searched for, but the list timed with other costs; "
                              "give them by {}",
                              name,
                              value,
                              option),
                  "--parameter");
    }
  }
  shape.parameters.merge(*std::move(searched));
  return {};
}

constexpr const char* kStandardInput = "-";

Result<std::string> read_standard_input() {
  std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  if (std::cin.bad()) {
    return fail(ErrorCode::kIo, "cannot be read", "standard input");
  }
  return text;
}

/// Of a file that does not say where stages lie, with forwards of a stage on several ranks.
std::string two_placements(const TokenList& list) {
  const std::vector<std::int32_t>& usual = list.placement[0];
  const std::vector<std::int32_t>& other = list.placement[1];
  const auto [at_usual, at_other] = std::ranges::mismatch(usual, other);
  const std::int32_t fewer =
      std::ranges::count(list.copy_of, 1) <= std::ranges::count(list.copy_of, 0) ? 1 : 0;
  return fmt::format(
      "stages stand on several ranks (stage {} on ranks {} and {}), which is counted as {} of "
      "their "
      "weights, as DualPipe and Chimera have them; if one rank is meant, look at micro-batch {}",
      at_usual - usual.begin(),
      *at_usual,
      *at_other,
      counted(static_cast<std::int64_t>(list.placement.size()), "copy"),
      std::ranges::find(list.copy_of, fewer) - list.copy_of.begin());
}

std::optional<std::string> unknown_marker(const TokenList& list) {
  for (std::size_t rank = 0; rank < list.ranks.size(); ++rank) {
    for (std::size_t place = 0; place < list.ranks[rank].size(); ++place) {
      const ListItem& item = list.ranks[rank][place];
      if (item.kind == ListItemKind::kMarker && !is_known_marker(item.marker)) {
        return fmt::format(
            "rank {} pos {}: '{}' is not known; like a marker it takes no time and holds up "
            "nothing",
            rank,
            place,
            item.marker);
      }
    }
  }
  return std::nullopt;
}

/// An empty line of a CSV is a rank, too.
std::optional<std::string> idle_rank(const TokenList& list) {
  for (std::size_t rank = 0; rank < list.ranks.size(); ++rank) {
    if (std::ranges::none_of(list.ranks[rank], [](const ListItem& item) {
          return item.kind == ListItemKind::kCompute;
        })) {
      return fmt::format(
          "rank {} computes nothing and counts among the {} ranks, as an empty "
          "line does",
          rank,
          list.ranks.size());
    }
  }
  return std::nullopt;
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
  const bool piped = path == kStandardInput;
  const Result<std::string> text = piped ? read_standard_input() : read_file(path);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  std::string name = piped ? "standard input" : path;
  Result<TokenList> list = parse_token_list(*text, name);
  if (!list) {
    return pass_on(std::move(list));
  }
  // A schedule vector states its placements.
  std::vector<std::string> warnings;
  if (!looks_like_json(*text) && list->placement.size() > 1) {
    warnings.push_back(two_placements(*list));
  }
  if (auto marker = unknown_marker(*list)) {
    warnings.push_back(*std::move(marker));
  }
  if (auto idle = idle_rank(*list)) {
    warnings.push_back(*std::move(idle));
  }
  return NamedList{std::move(name), *std::move(list), std::move(warnings)};
}

bool names_a_file(const std::string& schedule) {
  std::error_code ignored;
  return schedule == kStandardInput || schedule.find('/') != std::string::npos ||
         schedule.ends_with(".csv") || schedule.ends_with(".json") ||
         std::filesystem::exists(schedule, ignored);
}

}  // namespace stagewright
