#include <cmath>
#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/number_check.h"
#include "cli/path_check.h"
#include "cli/table.h"
#include "sim/analysis/compare.h"
#include "study/plan_inputs.h"

namespace stagewright {
namespace {

struct CompareCommand {
  std::string predicted;
  std::string measured;
  std::optional<double> max_error;
  CompareOptions options;
};

std::string error_text(const TimePair& pair) {
  const auto error = pair.error();
  return error ? signed_percent(*error) : "n/a";
}

std::string signed_time(Duration time) {
  return time < Duration{} ? "-" + to_string(-time) : "+" + to_string(time);
}

void print_kinds(std::ostream& out,
                 const std::string& title,
                 const std::vector<KindComparison>& kinds) {
  if (kinds.empty()) {
    return;
  }
  Table table({title, "count", "predicted", "measured", "error", "mean |error|"});
  for (const KindComparison& kind : kinds) {
    table.add({kind.kind,
               fmt::format("{}", kind.count),
               to_string(kind.total.predicted),
               to_string(kind.total.measured),
               error_text(kind.total),
               percent(kind.mean_absolute_error)});
  }
  out << "\n" << table.to_string();
}

void print_ranks(std::ostream& out, const Comparison& comparison) {
  Table table({"rank",
               "predicted busy",
               "measured busy",
               "error",
               "predicted bubble",
               "measured bubble",
               "predicted memory",
               "measured memory"});
  for (const RankComparison& rank : comparison.ranks) {
    table.add({fmt::format("{}", rank.rank.value()),
               to_string(rank.busy.predicted),
               to_string(rank.busy.measured),
               error_text(rank.busy),
               percent(rank.predicted_bubble),
               percent(rank.measured_bubble),
               to_string(rank.predicted_memory),
               to_string(rank.measured_memory)});
  }
  out << "\n" << table.to_string();
}

void print_worst(std::ostream& out, const Comparison& comparison) {
  if (comparison.worst.empty()) {
    return;
  }
  Table table(
      {"worst actions", "rank", "predicted", "measured", "error", "own error", "inherited"});
  for (const ActionComparison& action : comparison.worst) {
    table.add({to_string(Action{
                   .kind = action.kind, .stage = action.stage, .micro_batch = action.micro_batch}),
               fmt::format("{}", action.rank.value()),
               to_string(action.duration.predicted),
               to_string(action.duration.measured),
               error_text(action.duration),
               signed_time(action.own_error()),
               signed_time(action.inherited_error())});
  }
  out << "\n" << table.to_string();
}

void print_memory(std::ostream& out, const Comparison& comparison) {
  if (comparison.memory.empty()) {
    return;
  }
  Table table({"memory (largest rank)", "predicted", "measured", "equal"});
  for (const MemoryComparison& memory : comparison.memory) {
    table.add({std::string(name_of(memory.tensor_class)),
               to_string(memory.predicted),
               to_string(memory.measured),
               memory.predicted == memory.measured ? "yes" : "no"});
  }
  out << "\n" << table.to_string();
}

void print_causes(std::ostream& out, const Comparison& comparison) {
  if (comparison.causes.empty()) {
    return;
  }
  Table table({"idle by cause (mean over ranks)", "predicted", "measured"});
  for (const CauseComparison& cause : comparison.causes) {
    table.add(
        {std::string(name_of(cause.cause)), percent(cause.predicted), percent(cause.measured)});
  }
  out << "\n" << table.to_string();
}

/// A table, and "backward, transfer explain 83 % of +4.1 ms".
void print_effects(std::ostream& out, const Comparison& comparison) {
  const Duration difference = comparison.step.measured - comparison.step.predicted;
  if (comparison.effects.empty() || difference == Duration{}) {
    return;
  }
  Table table({"measured step longer because of", "by", "of the difference"});
  for (const StepEffect& effect : comparison.effects) {
    table.add({effect.kind,
               signed_time(effect.effect),
               signed_percent(to_seconds(effect.effect) / to_seconds(difference))});
  }
  out << "\n" << table.to_string();
  const Explanation explanation = explain_difference(comparison.effects, difference);
  if (!explanation.kinds.empty()) {
    out << fmt::format("{} explain{} {:.0f} % of {}\n",
                       fmt::join(explanation.kinds, ", "),
                       explanation.kinds.size() == 1 ? "s" : "",
                       100 * explanation.share,
                       signed_time(difference));
  }
}

void print(std::ostream& out, const Comparison& comparison) {
  print_kinds(out, "operation", comparison.operations);
  print_worst(out, comparison);
  print_memory(out, comparison);
  print_ranks(out, comparison);
  print_causes(out, comparison);
  print_kinds(out, "action", comparison.actions);
  print_effects(out, comparison);
  Table table({"step time", "predicted", "measured", "error", "repeat spread", "steps"});
  table.add({"",
             to_string(comparison.step.predicted),
             to_string(comparison.step.measured),
             signed_percent(comparison.step_error),
             percent(comparison.repeat_spread),
             fmt::format("{}", comparison.measured_steps)});
  out << "\n" << table.to_string();
  if (comparison.only_predicted > 0 || comparison.only_measured > 0) {
    out << fmt::format("not matched: {} predicted and {} measured events\n",
                       comparison.only_predicted,
                       comparison.only_measured);
  }
}

ExitCode run(const Context& context, const CompareCommand& command) {
  const auto predicted = load_trace(command.predicted);
  if (!predicted) {
    return context.report(predicted.error());
  }
  const auto measured = load_trace(command.measured);
  if (!measured) {
    return context.report(measured.error());
  }
  const auto comparison = compare(*predicted, *measured, command.options);
  if (!comparison) {
    return context.report(comparison.error());
  }
  if (context.json) {
    *context.out << to_json_text(*comparison) << "\n";
  } else {
    *context.out << fmt::format(
        "{}; clock of the measurement: {}\n", measured->plan_summary, measured->clock);
    print(*context.out, *comparison);
  }
  if (command.max_error && std::abs(comparison->step_error) > *command.max_error) {
    *context.err << fmt::format("error of the step time {} is beyond --max-error {}\n",
                                signed_percent(comparison->step_error),
                                percent(*command.max_error));
    return ExitCode::kCheckFailed;
  }
  return ExitCode::kSuccess;
}

}  // namespace

void add_compare_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "compare", "Hold a measured trace against the predicted one: step, kinds, ranks, memory");
  auto options = std::make_shared<CompareCommand>();
  command->add_option("predicted", options->predicted, "Trace that `simulate --trace` wrote")
      ->required()
      ->check(path_given);
  command->add_option("measured", options->measured, "Trace that `run --trace` wrote")
      ->required()
      ->check(path_given);
  command
      ->add_option("--max-error",
                   options->max_error,
                   "Exit with 1 if the step time is off by more than this fraction (0.15)")
      ->check(non_negative_number);
  command->add_option("--worst", options->options.worst, "How many actions to list")
      ->check(non_negative_count);
  command->add_flag("--ignore-hash",
                    options->options.ignore_schedule_hash,
                    "Compare although the traces come from unlike schedules");
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
