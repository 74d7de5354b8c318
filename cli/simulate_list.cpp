#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/bubble_report.h"
#include "cli/list_report.h"
#include "cli/simulate_command.h"
#include "cli/table.h"
#include "core/base/version.h"
#include "sim/analysis/list_trace.h"
#include "sim/analysis/trace_work.h"

namespace stagewright {
namespace {

Result<NamedList> load(const SimulateListOptions& options) {
  if (!names_a_file(options.schedule)) {
    return generate_list(options.schedule, options.order, options.costs);
  }
  if (options.order.any()) {
    return fail(ErrorCode::kInvalidInput,
                "a file says by its list how many ranks, micro-batches and stages there are; "
                "leave out --ranks, --chunks, --virtual, --group and --parameter",
                options.schedule);
  }
  return load_list(options.schedule);
}

std::optional<QueueModel> model_named(const std::string& name) {
  for (const QueueModel model : kQueueModels) {
    if (name_of(model) == name) {
      return model;
    }
  }
  return std::nullopt;
}

/// Puts the times under the queue model that was asked for in the place of those with free links.
Result<void> choose_queues(const SimulateListOptions& options,
                           const NamedList& list,
                           OrderCheck& check) {
  const auto model = model_named(options.queues);
  if (!model) {
    return {};
  }
  for (const auto& [checked, timing] : check.queues) {
    if (checked == *model && timing.fault) {
      return fail(ErrorCode::kInfeasible,
                  fmt::format("under --queues {}: {}", options.queues, timing.fault->to_string()),
                  list.name);
    }
    if (checked == *model) {
      check.timing = timing;
      return {};
    }
  }
  return fail(ErrorCode::kInvalidInput,
              fmt::format("{} has no sends and receives that could queue; leave the option out, or "
                          "give a lowered list",
                          list.name),
              "--queues");
}

std::string sizes_text(const NamedList& list) {
  return fmt::format("{}: {} ranks, {} stages, {} micro-batches",
                     list.name,
                     list.list.ranks.size(),
                     list.list.stages,
                     list.list.micro_batches);
}

nlohmann::json list_json(const NamedList& list,
                         const SimulateListOptions& options,
                         const OrderCheck& check,
                         const ListPrices& prices) {
  nlohmann::json json = to_json(check, prices);
  json["schedule"] = list.name;
  json["ranks"] = list.list.ranks.size();
  json["stages"] = list.list.stages;
  json["micro_batches"] = list.list.micro_batches;
  if (!options.queues.empty()) {
    json["queued_by"] = options.queues;
  }
  return json;
}

}  // namespace

ExitCode simulate_list(const Context& context,
                       const SimulateListOptions& options,
                       const SimulateReports& reports) {
  const auto list = load(options);
  if (!list) {
    return context.report(list.error());
  }
  const auto prices = prices_for(options.costs, list->list);
  if (!prices) {
    return context.report(prices.error());
  }
  OrderCheck check = check_order(list->list, prices->costs);
  if (check.fault) {
    return context.report(Error{
        ErrorCode::kInfeasible, "the list is not valid: " + check.fault->to_string(), list->name});
  }
  if (auto chosen = choose_queues(options, *list, check); !chosen) {
    return context.report(chosen.error());
  }
  SimulatedStep step{.title = sizes_text(*list),
                     .subtitle = fmt::format("{}; makespan {:.6g}, bubble {}",
                                             prices->text,
                                             prices->in_units(check.timing.makespan),
                                             percent(check.timing.bubble_rate())),
                     .unit = {.seconds = prices->unit_seconds, .name = {}},
                     .list = SimulatedList{list->list, *prices, check.timing}};
  step.trace = list_trace(list->list, prices->costs, check.timing);
  step.trace.plan_summary = step.title;
  step.trace.made_by = {{"program", "stagewright " + std::string(version())},
                        {"command", context.command_line}};
  const StepWork work = work_of(step.trace);
  const BubbleCauses bubbles = bubble_causes(work);
  const CriticalPath path = critical_path(work);
  nlohmann::json json = list_json(*list, options, check, *prices);
  add_explanation(bubbles, path, json);
  return print_with_reports(
      context,
      reports,
      step,
      std::move(json),
      step.title + "\n\n" + to_text(check, *prices) + explanation_text(bubbles, path));
}

}  // namespace stagewright
