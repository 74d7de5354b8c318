#include "cli/plan_options.h"

#include <charconv>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/number_check.h"
#include "cli/output_files.h"
#include "cli/path_check.h"
#include "planner/plan_job.h"
#include "planner/search/dimension.h"

namespace stagewright {
namespace {

void add_limits(CLI::App& command, PlanOptions& options) {
  SearchRequest& request = options.request;
  command
      .add_option("--memory-share",
                  request.memory_share,
                  "Share of the device's memory that a plan may fill")
      ->check(positive_number);
  command.add_option("--top", request.keep, "How many plans to print")->check(positive_count);
  command.add_option("--rejected", options.shown_rejections, "How many rejected points to print")
      ->check(non_negative_count);
  command
      .add_option("--gap",
                  options.gap_percent,
                  "Stop where no plan can be better than the best by more than this percentage "
                  "(default 1; 0 proves the whole list)")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--max-simulated",
                  request.most_simulated,
                  "Stop after so many simulations beyond the first plan (default 48; with --gap 0 "
                  "none)")
      ->check(positive_count);
  command
      .add_option("--time-limit", options.seconds, "Seconds after which the best so far is given")
      ->check(positive_number);
  command.add_option("--threads", request.threads, "Threads (default: all cores)")
      ->check(positive_count);
  add_output_option(command, "--out", options.out, "Write the best plan to this file");
}

void add_objective(CLI::App& command, PlanOptions& options) {
  command.add_option("--objective",
                     options.objective,
                     "step-time, tokens, devices, cost, energy, headroom or robustness");
  command.add_option("--device-hour", options.device_hour, "Price of a device for an hour")
      ->check(positive_number);
  command.add_option("--device-watts", options.device_watts, "Power that a device in use draws")
      ->check(positive_number);
  command.add_option("--tokens",
                     options.tokens,
                     "Tokens of the whole training (300B, 2T): days and cost are printed");
}

}  // namespace

void add_plan_options(CLI::App& command, PlanOptions& options) {
  SearchRequest& request = options.request;
  command
      .add_option("--model",
                  options.model,
                  "Preset (llama3-70b, gpt3-175b, ...), Hugging Face config.json, or model file")
      ->required();
  command
      .add_option("--cluster",
                  options.cluster,
                  "NODESxDEVICESxTYPE (16x8xh100-sxm, 1x2xcpu), a preset, or a cluster file")
      ->required();
  command.add_option("--global-batch", request.global_batch, "Sequences per optimizer step")
      ->required()
      ->check(positive_count);
  command
      .add_option("--seq", request.sequence, "Tokens per sequence (default: the model's longest)")
      ->check(positive_count);
  command.add_option("--profile", options.profile, "Measured times that go before the cost model")
      ->check(path_given);
  command.add_option(
      "--precision", options.precision, "bf16, fp16, fp32 (default: bf16; fp32 on cpu)");
  command.add_option("--framework",
                     options.framework,
                     "Who runs the plan (profiles/frameworks; default: stagewright)");
  for (const Dimension& dimension : dimensions()) {
    const std::string name(dimension.name);
    CLI::Option* const option =
        command.add_option("--" + name, options.constraints[name], std::string(dimension.help))
            ->type_name("VALUES")
            ->group("Fixed choices: 8, 2,4, 4..16, names, patterns");
    if (dimension.names == nullptr) {
      option->check([name](const std::string& text) {
        Constraints read;
        const auto done = constrain(read, name, text);
        return done ? std::string() : done.error().message;
      });
    }
  }
  add_objective(command, options);
  add_limits(command, options);
}

Result<double> parse_count(const std::string& text, const std::string& where) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  double unit = 0;
  if (suffix.empty()) {
    unit = 1;
  } else if (suffix == "M") {
    unit = 1e6;
  } else if (suffix == "B" || suffix == "G") {
    unit = 1e9;
  } else if (suffix == "T") {
    unit = 1e12;
  }
  if (error != std::errc{} || unit == 0 || !(value > 0) || !(value < 1e18)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' is not a count; write it like 300B, 2T or 1.5e12", text),
                where);
  }
  return value * unit;
}

Result<void> read_plan_options(const DataFiles& files, PlanOptions& options) {
  SearchRequest& request = options.request;
  for (const auto& [name, text] : options.constraints) {
    if (text.empty()) {
      continue;
    }
    if (auto done = constrain(request.constraints, name, text); !done) {
      return done;
    }
  }
  const auto aim = parse_aim(options.objective);
  if (!aim) {
    return tl::unexpected<Error>(aim.error());
  }
  request.objective.aim = *aim;
  if (options.device_hour > 0) {
    request.objective.device_hour = options.device_hour;
  }
  if (options.device_watts > 0) {
    request.objective.device_watts = options.device_watts;
  }
  request.gap = options.gap_percent / 100;
  if (request.gap > 0 && !request.most_simulated) {
    constexpr std::int64_t kUsualSimulations = 48;
    request.most_simulated = kUsualSimulations;
  }
  if (options.seconds > 0) {
    request.seconds = options.seconds;
  }
  auto prices = load_step_prices(files, options.framework);
  if (!prices) {
    return pass_on(std::move(prices));
  }
  request.step_prices = *std::move(prices);
  return {};
}

}  // namespace stagewright
