#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/schedule_costs.h"
#include "cli/table.h"
#include "core/base/check.h"
#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

struct CompareCommand {
  std::int32_t ranks = 1;
  std::int32_t micro_batches = 1;
  std::optional<std::int32_t> virtual_stages;
  CostOptions costs;
};

/// A schedule under the costs; times in the user's unit, memory in micro-batches of a whole rank.
struct Row {
  std::string_view schedule;
  double makespan = 0;
  double bubble = 0;
  double span_bubble = 0;
  double peak = 0;
  std::string_view weights;
  bool on_curve = false;  ///< no other schedule is faster with as little memory
};

struct Rejected {
  std::string_view schedule;
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
  const TokenList list = token_list(order);
  Result<ListPrices> prices = prices_for(command.costs, list);
  if (!prices) {
    return pass_on(std::move(prices));
  }
  const std::int32_t stages_per_rank = order.stages / command.ranks;
  divide(prices->costs.stages, stages_per_rank);
  const OrderCheck check = check_order(list, prices->costs);
  SW_CHECK(!check.fault, "a generated list that is valid");
  const auto& held = check.peaks.to_weight;
  return Row{
      .schedule = generator.name,
      .makespan = prices->in_units(check.timing.makespan),
      .bubble = check.timing.bubble_rate(),
      .span_bubble = check.timing.span_bubble_rate(),
      .peak = static_cast<double>(*std::max_element(held.begin(), held.end())) / stages_per_rank,
      .weights = generator.figures.weights};
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

Result<Comparison> compare_all(const CompareCommand& command) {
  Comparison comparison;
  for (const ScheduleGenerator& generator : schedule_generators()) {
    const bool several = generator.default_virtual_stages > 1;
    const Result<PipelineOrder> order = generator.generate(
        {.ranks = command.ranks,
         .virtual_stages =
             several ? command.virtual_stages.value_or(generator.default_virtual_stages) : 1,
         .micro_batches = command.micro_batches,
         .parameters = {}});
    if (!order) {
      comparison.rejected.push_back({generator.name, order.error().message});
      continue;
    }
    Result<Row> row = row_of(generator, *order, command);
    if (!row) {
      return pass_on(std::move(row));
    }
    comparison.rows.push_back(*row);
  }
  mark_curve(comparison.rows);
  return comparison;
}

nlohmann::json to_json(const Comparison& comparison) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : comparison.rows) {
    rows.push_back({{"schedule", row.schedule},
                    {"makespan", row.makespan},
                    {"bubble_rate", row.bubble},
                    {"span_bubble_rate", row.span_bubble},
                    {"peak_micro_batches", row.peak},
                    {"weight_copies", row.weights},
                    {"on_curve", row.on_curve}});
  }
  nlohmann::json rejected = nlohmann::json::array();
  for (const Rejected& schedule : comparison.rejected) {
    rejected.push_back({{"schedule", schedule.schedule}, {"reason", schedule.reason}});
  }
  return {{"schedules", std::move(rows)}, {"rejected", std::move(rejected)}};
}

void print(std::ostream& out, const Comparison& comparison) {
  Table table({"schedule", "peak", "makespan", "bubble", "as span", "weights", "best at its peak"});
  for (const Row& row : comparison.rows) {
    table.add({std::string(row.schedule),
               fmt::format("{:.4g}", row.peak),
               fmt::format("{:.6g}", row.makespan),
               percent(row.bubble),
               percent(row.span_bubble),
               std::string(row.weights),
               row.on_curve ? "yes" : ""});
  }
  out << table.to_string()
      << "\nCosts are those of a rank's layers, shared out among its stages; peak: activations "
         "held "
         "until the\nweight gradient, in micro-batches of a whole rank.\n";
  for (const Rejected& schedule : comparison.rejected) {
    out << fmt::format("not here: {}\n", schedule.reason);
  }
}

ExitCode run(const Context& context, const CompareCommand& command) {
  const Result<Comparison> comparison = compare_all(command);
  if (!comparison) {
    return context.report(comparison.error());
  }
  if (context.json) {
    *context.out << to_json(*comparison).dump(2) << "\n";
  } else {
    print(*context.out, *comparison);
  }
  return ExitCode::kSuccess;
}

}  // namespace

void add_schedules_compare_command(CLI::App& app, Chosen& chosen) {
  // Lists of every schedule are made and timed one after the other.
  constexpr std::int32_t kMost = 1 << 12;
  CLI::App* command = app.add_subcommand(
      "compare", "Time and memory of all schedules for given sizes and costs of a rank");
  auto options = std::make_shared<CompareCommand>();
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
  add_cost_options(*command, options->costs);
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
