#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/curve_plot.h"
#include "cli/json_text.h"
#include "cli/list_memory.h"
#include "cli/path_check.h"
#include "cli/progress_notes.h"
#include "cli/schedule_costs.h"
#include "cli/schedule_names.h"
#include "cli/synthesis_options.h"
#include "cli/table.h"
#include "core/base/check.h"
#include "core/base/counted.h"
#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

constexpr std::int64_t kEffort = 10;  ///< of each search, for many of which one waits
/// Longer lists take seconds each to search.
constexpr std::int64_t kMostSynthesisedActions = 100'000;

struct CompareCommand {
  std::vector<std::string> names;  ///< or patterns; none: all
  std::int32_t ranks = 1;
  std::int32_t micro_batches = 1;
  std::optional<std::int32_t> virtual_stages;
  CostOptions costs;
  std::optional<std::int64_t> effort;  ///< of each search
  bool synthesis = false;              ///< even if it is not named
  bool no_synthesis = false;           ///< even if it is, or with all schedules
};

/// A schedule under the costs; times in the user's unit, memory in micro-batches of a whole rank.
struct Row {
  std::string schedule;
  double makespan = 0;
  double bubble = 0;       ///< mean over ranks
  double bubble_rate = 0;  ///< of the busiest rank
  double span_bubble = 0;  ///< of the busiest rank, against the longest span
  double peak = 0;
  std::string_view weights;
  bool synthesised = false;
  bool on_curve = false;  ///< no other schedule is faster with as little memory
};

struct Rejected {
  std::string schedule;
  std::string reason;
};

struct Comparison {
  std::vector<Row> rows;  ///< by memory, then by time
  std::vector<Rejected> rejected;
};

/// Costs of a rank's layers, shared out among its stages.
void divide(PipelineCosts& costs, std::int64_t stages_per_rank) {
  for (auto* kind : {&costs.forward,
                     &costs.backward,
                     &costs.backward_input,
                     &costs.backward_weight,
                     &costs.recompute}) {
    for (Duration& cost : *kind) {
      cost /= stages_per_rank;
    }
  }
}

Result<Row> row_of(const ScheduleGenerator& generator,
                   const PipelineOrder& order,
                   const CompareCommand& command) {
  double actions = 0;
  for (const std::vector<Action>& rank : order.ranks) {
    actions += static_cast<double>(rank.size());
  }
  Result<ListPrices> prices = prices_for(command.costs, order.stages, actions);
  if (!prices) {
    return pass_on(std::move(prices));
  }
  const Result<PipelineGraph> graph = compile(order);
  if (!graph) {
    return fail(graph.error().code, graph.error().message, std::string(generator.name));
  }
  const std::int32_t stages_per_rank = order.stages / command.ranks;
  divide(prices->costs, stages_per_rank);
  const OrderCheck check = check_order(order, *graph, prices->costs);
  const auto& held = check.peaks.to_weight;
  return Row{
      .schedule = std::string(generator.name),
      .makespan = prices->in_units(check.timing.makespan),
      .bubble = check.timing.bubble(),
      .bubble_rate = check.timing.bubble_rate(),
      .span_bubble = check.timing.span_bubble_rate(),
      .peak = static_cast<double>(*std::max_element(held.begin(), held.end())) / stages_per_rank,
      .weights = generator.figures.weights,
      .synthesised = generator.synthesised};
}

void mark_curve(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.peak < b.peak || (a.peak == b.peak && a.makespan < b.makespan);
  });
  std::optional<double> fastest;
  for (Row& row : rows) {
    row.on_curve = !fastest || row.makespan < *fastest;
    fastest = std::min(row.makespan, fastest.value_or(row.makespan));
  }
}

/// In micro-batches of a whole rank: what the named schedules hold, and steps of what 1F1B does.
std::vector<double> caps_to_try(const CompareCommand& command, const std::vector<Row>& rows) {
  std::vector<double> caps;
  for (const double share : {0.375, 0.5, 0.625, 0.75, 1.0, 1.5, 2.0}) {
    caps.push_back(std::min<double>(share * command.ranks, command.micro_batches));
  }
  for (const Row& row : rows) {
    if (row.peak <= 2.0 * command.ranks) {
      caps.push_back(row.peak);
    }
  }
  std::sort(caps.begin(), caps.end());
  caps.erase(std::unique(caps.begin(), caps.end()), caps.end());
  return caps;
}

/// Synthesised schedules with that many stages a rank, each faster than all with a smaller cap.
Result<void> add_synthesised(const CompareCommand& command,
                             std::int32_t virtual_stages,
                             const std::vector<double>& caps,
                             ProgressNotes& progress,
                             std::vector<Row>& rows) {
  const Result<ScheduleGenerator> generator = find_schedule("synth");
  SW_CHECK(generator.has_value(), "a schedule of that name");
  PipelineShape shape{.ranks = command.ranks,
                      .virtual_stages = virtual_stages,
                      .micro_batches = command.micro_batches};
  // A stage's costs are a rank's divided by its stages, except transfers.
  CostOptions costs = command.costs;
  costs.transfer *= virtual_stages;
  Result<std::map<std::string, std::int64_t>> parameters =
      synthesis_parameters({.effort = command.effort.value_or(kEffort)}, costs, shape);
  if (!parameters) {
    return pass_on(std::move(parameters));
  }
  std::optional<double> fastest;
  std::int64_t last_cap = 0;
  for (const double whole : caps) {
    const auto cap = static_cast<std::int64_t>(std::floor(whole * virtual_stages + 1e-9));
    if (cap < virtual_stages || cap == last_cap) {
      continue;
    }
    last_cap = cap;
    progress.note(fmt::format("searching: synth with {} a rank, cap {} (up to {:.0f})",
                              counted(virtual_stages, "stage"),
                              cap,
                              std::floor(caps.back() * virtual_stages + 1e-9)));
    shape.parameters = *parameters;
    shape.parameters["cap"] = cap;
    const Result<PipelineOrder> order = generator->generate(shape);
    SW_CHECK(order.has_value(), "an order within a cap that a micro-batch fits into");
    Result<Row> row = row_of(*generator, *order, command);
    if (!row) {
      return pass_on(std::move(row));
    }
    if (!fastest || row->makespan < *fastest) {
      fastest = row->makespan;
      row->schedule = fmt::format("synth V={} cap={}", virtual_stages, cap);
      rows.push_back(*std::move(row));
    }
  }
  return {};
}

Result<void> add_synthesised(const CompareCommand& command,
                             ProgressNotes& progress,
                             Comparison& comparison) {
  const std::int32_t several = command.virtual_stages.value_or(2);
  const std::vector<double> caps = caps_to_try(command, comparison.rows);
  std::vector<std::int32_t> choices{1};
  if (several > 1) {
    choices.push_back(several);
  }
  for (const std::int32_t virtual_stages : choices) {
    if (std::int64_t{3} * command.ranks * virtual_stages * command.micro_batches >
        kMostSynthesisedActions) {
      comparison.rejected.push_back(
          {fmt::format("synth V={}", virtual_stages),
           fmt::format("'synth' with {} a rank: such a long list takes a while; see "
                       "`schedules emit synth`",
                       counted(virtual_stages, "stage"))});
      continue;
    }
    if (Result<void> added =
            add_synthesised(command, virtual_stages, caps, progress, comparison.rows);
        !added) {
      return added;
    }
  }
  return {};
}

PipelineShape shape_for(const ScheduleGenerator& generator, const CompareCommand& command) {
  const bool several = generator.default_virtual_stages > 1;
  return {.ranks = command.ranks,
          .virtual_stages =
              several ? command.virtual_stages.value_or(generator.default_virtual_stages) : 1,
          .micro_batches = command.micro_batches,
          .parameters = {}};
}

/// Of all lists, before the first is made.
Result<void> check_sizes(const CompareCommand& command, const ChosenSchedules& schedules) {
  for (const ScheduleGenerator* generator : schedules) {
    const PipelineShape shape = shape_for(*generator, command);
    const double actions = 3.0 * shape.stages() * shape.micro_batches;
    if (auto fits = check_list_fits(actions, kSummaryBytes, usable_memory(), "--chunks"); !fits) {
      return fits;
    }
  }
  return {};
}

Result<void> add_named(const CompareCommand& command,
                       const ScheduleGenerator& generator,
                       Comparison& comparison) {
  const Result<PipelineOrder> order = generator.generate(shape_for(generator, command));
  if (!order) {
    comparison.rejected.push_back({std::string(generator.name), order.error().message});
    return {};
  }
  Result<Row> row = row_of(generator, *order, command);
  if (!row && row.error().code == ErrorCode::kUnsupported) {
    comparison.rejected.push_back({std::string(generator.name), row.error().to_string()});
    return {};
  }
  if (!row) {
    return pass_on(std::move(row));
  }
  comparison.rows.push_back(*std::move(row));
  return {};
}

Result<Comparison> compare_chosen(const CompareCommand& command, ProgressNotes& progress) {
  const Result<ChosenSchedules> schedules = choose_schedules(command.names);
  if (!schedules) {
    return tl::unexpected<Error>(schedules.error());
  }
  if (Result<void> fits = check_sizes(command, *schedules); !fits) {
    return pass_on(std::move(fits));
  }
  Comparison comparison;
  bool synthesis = false;
  for (const ScheduleGenerator* generator : *schedules) {
    progress.note(fmt::format("timing: {}", generator->name));
    if (generator->synthesised) {
      synthesis = true;
    } else if (auto added = add_named(command, *generator, comparison); !added) {
      return pass_on(std::move(added));
    }
  }
  synthesis = (synthesis || command.synthesis) && !command.no_synthesis;
  if (!synthesis && command.effort) {
    return fail(ErrorCode::kInvalidInput,
                "nothing is searched here; leave it out, or add --synthesis",
                "--effort");
  }
  if (synthesis) {
    if (Result<void> added = add_synthesised(command, progress, comparison); !added) {
      return pass_on(std::move(added));
    }
  }
  mark_curve(comparison.rows);
  return comparison;
}

nlohmann::json to_json(const Comparison& comparison) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : comparison.rows) {
    rows.push_back({{"schedule", row.schedule},
                    {"makespan", row.makespan},
                    {"bubble", row.bubble},
                    {"bubble_rate", row.bubble_rate},
                    {"span_bubble_rate", row.span_bubble},
                    {"peak_micro_batches", row.peak},
                    {"weight_copies", row.weights},
                    {"synthesised", row.synthesised},
                    {"on_curve", row.on_curve}});
  }
  nlohmann::json rejected = nlohmann::json::array();
  for (const Rejected& schedule : comparison.rejected) {
    rejected.push_back({{"schedule", schedule.schedule}, {"reason", schedule.reason}});
  }
  return {{"schedules", std::move(rows)}, {"rejected", std::move(rejected)}};
}

/// The curve of the best, over all the others.
std::string curve_text(const std::vector<Row>& rows) {
  std::vector<PlotPoint> points;
  for (const bool on_curve : {false, true}) {
    for (const Row& row : rows) {
      if (row.on_curve == on_curve) {
        points.push_back({row.peak, row.makespan, row.synthesised ? '*' : on_curve ? 'O' : 'o'});
      }
    }
  }
  return plot(points, "peak", "makespan") +
         "\no a named schedule, O one that is the best at its peak, * synthesised\n";
}

void print(std::ostream& out, const Comparison& comparison, const CompareCommand& command) {
  Table table({"schedule",
               "peak",
               "makespan",
               "bubble",
               "busiest rank idle",
               "of its span",
               "weights",
               "best at its peak"});
  for (const Row& row : comparison.rows) {
    table.add({row.schedule,
               fmt::format("{:.4g}", row.peak),
               fmt::format("{:.6g}", row.makespan),
               percent(row.bubble),
               percent(row.bubble_rate),
               percent(row.span_bubble),
               std::string(row.weights),
               row.on_curve ? "yes" : ""});
  }
  if (comparison.rows.empty()) {
    out << "none of these schedules fits the sizes\n";
  } else {
    out << table.to_string()
        << "\nCosts are those of a rank's layers, shared out among its stages (`simulate` and "
           "`check` take those of a\nstage). peak: activations held until the weight gradient, in "
           "micro-batches of a whole rank (V times as many\nof a stage, which --memory-cap "
           "counts); bubble: idle time, the mean over ranks.\n";
  }
  if (!command.costs.scaled_stages.empty()) {
    out << "With --scale-stage schedules of unlike V do unlike work: a stage is 1/V of a rank's "
           "layers.\n";
  }
  if (comparison.rows.size() > 1) {
    out << "\n" << curve_text(comparison.rows);
  }
  for (const Rejected& schedule : comparison.rejected) {
    out << fmt::format("not here: {}\n", schedule.reason);
  }
}

ExitCode run(const Context& context, const CompareCommand& command) {
  const Result<Comparison> comparison = [&] {
    ProgressNotes progress(context);
    return compare_chosen(command, progress);
  }();
  if (!comparison) {
    return context.report(comparison.error());
  }
  if (context.json) {
    *context.out << json_text(to_json(*comparison));
  } else {
    print(*context.out, *comparison, command);
  }
  return comparison->rows.empty() ? ExitCode::kInfeasible : ExitCode::kSuccess;
}

}  // namespace

void add_schedules_compare_command(CLI::App& app, Chosen& chosen) {
  // Lists of every schedule are made and timed one after the other.
  constexpr std::int32_t kMost = 1 << 12;
  CLI::App* command = app.add_subcommand(
      "compare", "Time and memory of schedules for given sizes and costs of a rank");
  auto options = std::make_shared<CompareCommand>();
  command
      ->add_option("schedules",
                   options->names,
                   "Which, by name or pattern (zb-v 1f1b 'dual*'); synth: searched for these costs "
                   "(default: all)")
      ->check(value_given);
  command->add_option("--ranks", options->ranks, "Pipeline ranks (P)")
      ->required()
      ->check(CLI::Range(1, kMost));
  command->add_option("--chunks,--micro-batches", options->micro_batches, "Micro-batches (M)")
      ->required()
      ->check(CLI::Range(1, kMost));
  command
      ->add_option("--virtual",
                   options->virtual_stages,
                   "Stages per rank (V) of the schedules that have several")
      ->check(CLI::Range(1, 64));
  CLI::Option* synthesis =
      command->add_flag("--synthesis",
                        options->synthesis,
                        "Also schedules searched for these costs, with those named");
  command
      ->add_flag("--no-synthesis",
                 options->no_synthesis,
                 "No searched ones, though all schedules are compared")
      ->excludes(synthesis);
  command
      ->add_option("--effort",
                   options->effort,
                   fmt::format("Million steps of each of the searches ({})", kEffort))
      ->check(CLI::Range(1, 100'000));
  add_cost_options(*command, options->costs);
  command->get_option("--costs")->description(
      "Cost of all of a rank's layers, in any unit, shared out among its stages: "
      "F=1,I=1,W=1,B=2,R=1 (B: I + W, R: F)");
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
