#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/bubble_report.h"
#include "cli/list_memory.h"
#include "cli/list_report.h"
#include "cli/simulate_command.h"
#include "cli/table.h"
#include "core/base/version.h"
#include "core/schedule/list_order.h"
#include "planner/schedules/registry.h"
#include "planner/schedules/steady_state.h"
#include "sim/analysis/list_trace.h"
#include "sim/analysis/order_explanation.h"
#include "sim/analysis/trace_work.h"

namespace stagewright {
namespace {

/// What is to be timed: the order of a schedule, or a file's list as it stands beside its order.
struct Loaded {
  std::string name;
  PipelineOrder order;
  std::optional<TokenList> list;

  [[nodiscard]] double actions() const {
    double count = 0;
    for (const std::vector<Action>& rank : order.ranks) {
      count += static_cast<double>(rank.size());
    }
    return count;
  }
};

Result<Loaded> load(const SimulateListOptions& options, double bytes_an_action) {
  if (!names_a_file(options.schedule)) {
    auto made = generate_order(options.schedule, options.order, options.costs, bytes_an_action);
    if (!made) {
      return pass_on(std::move(made));
    }
    return Loaded{.name = std::move(made->name), .order = std::move(made->order), .list = {}};
  }
  if (options.order.any()) {
    return fail(ErrorCode::kInvalidInput,
                "a file says by its list how many ranks, micro-batches and stages there are; "
                "leave out --ranks, --chunks, --virtual, --group and --parameter",
                options.schedule);
  }
  auto read = load_list(options.schedule);
  if (!read) {
    return pass_on(std::move(read));
  }
  PipelineOrder order = order_of(read->list);
  return Loaded{std::move(read->name), std::move(order), std::move(read->list)};
}

/// A list with its figures, and why they are what they are.
struct Timed {
  OrderCheck check;
  BubbleCauses bubbles;
  PathSums path;
  Trace trace;  ///< of single actions, where it was asked for
};

Error not_valid(const Loaded& loaded, const ListFault& fault) {
  return {ErrorCode::kInfeasible, "the list is not valid: " + fault.to_string(), loaded.name};
}

/// Figures alone, for a small number of bytes an action.
Result<Timed> time_by_pass(const Loaded& loaded, const ListPrices& prices) {
  Timed timed;
  if (loaded.list) {
    timed.check = check_order(*loaded.list, prices.costs);
    if (timed.check.fault) {
      return tl::unexpected(not_valid(loaded, *timed.check.fault));
    }
  }
  Result<PipelineGraph> graph = compile(loaded.order);
  if (!graph) {
    return pass_on(std::move(graph));
  }
  if (!loaded.list) {
    timed.check = check_order(loaded.order, *graph, prices.costs);
  }
  timed.bubbles = bubble_causes(*graph, prices.costs);
  timed.path = critical_path(*graph, prices.costs);
  return timed;
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
                           const std::string& name,
                           OrderCheck& check) {
  const auto model = model_named(options.queues);
  if (!model) {
    return {};
  }
  for (const auto& [checked, timing] : check.queues) {
    if (checked == *model && timing.fault) {
      return fail(ErrorCode::kInfeasible,
                  fmt::format("under --queues {}: {}", options.queues, timing.fault->to_string()),
                  name);
    }
    if (checked == *model) {
      check.timing = timing;
      return {};
    }
  }
  return fail(ErrorCode::kInvalidInput,
              fmt::format("{} has no sends and receives that could queue; leave the option out, or "
                          "give a lowered list",
                          name),
              "--queues");
}

/// With the times of single actions.
Result<Timed> time_by_item(const Loaded& loaded,
                           const ListPrices& prices,
                           const SimulateListOptions& options) {
  const TokenList list = loaded.list ? *loaded.list : token_list(loaded.order);
  Timed timed{.check = check_order(list, prices.costs), .bubbles = {}, .path = {}, .trace = {}};
  if (timed.check.fault) {
    return tl::unexpected(not_valid(loaded, *timed.check.fault));
  }
  if (auto chosen = choose_queues(options, loaded.name, timed.check); !chosen) {
    return pass_on(std::move(chosen));
  }
  timed.trace = list_trace(list, prices.costs, timed.check.timing);
  const StepWork work = work_of(timed.trace);
  timed.bubbles = bubble_causes(work);
  timed.path = critical_path(work);
  return timed;
}

/// Of an asynchronous schedule, whose stretches follow each other without a drain.
struct SteadyState {
  Duration time{};  ///< of as many micro-batches as the list has
  double bubble = 0;
};

/// Nothing of other schedules, of files (which do not say how they go on), and of so many ranks
/// that the longer lists would take more memory than the one that was asked for.
std::optional<SteadyState> steady_state(const Loaded& loaded,
                                        const ListPrices& prices,
                                        const ListTiming& timing) {
  constexpr std::size_t kMostRanks = 512;
  if (loaded.list || loaded.order.ranks.size() > kMostRanks) {
    return std::nullopt;
  }
  const Result<ScheduleGenerator> generator = find_schedule(loaded.name);
  if (!generator || !generator->asynchronous) {
    return std::nullopt;
  }
  const auto ranks = static_cast<std::int32_t>(loaded.order.ranks.size());
  const Result<Duration> time = steady_time(*generator,
                                            {.ranks = ranks,
                                             .virtual_stages = loaded.order.stages / ranks,
                                             .micro_batches = loaded.order.micro_batches,
                                             .parameters = {}},
                                            prices.costs);
  if (!time) {
    return std::nullopt;
  }
  const Duration busiest = *std::ranges::max_element(timing.busy);
  const double whole = to_seconds(*time);
  return SteadyState{*time, whole > 0 ? 1 - to_seconds(busiest) / whole : 0};
}

std::string steady_text(const SteadyState& steady, const ListPrices& prices) {
  return fmt::format(
      "steady state, stretch behind stretch without a drain: {:.6g} each, bubble {}\n",
      prices.in_units(steady.time),
      percent(steady.bubble));
}

std::string sizes_text(const Loaded& loaded) {
  return fmt::format("{}: {} ranks, {} stages, {} micro-batches",
                     loaded.name,
                     loaded.order.ranks.size(),
                     loaded.order.stages,
                     loaded.order.micro_batches);
}

nlohmann::json list_json(const Loaded& loaded,
                         const SimulateListOptions& options,
                         const OrderCheck& check,
                         const ListPrices& prices) {
  nlohmann::json json = to_json(check, prices);
  json["schedule"] = loaded.name;
  json["ranks"] = loaded.order.ranks.size();
  json["stages"] = loaded.order.stages;
  json["micro_batches"] = loaded.order.micro_batches;
  if (!options.queues.empty()) {
    json["queued_by"] = options.queues;
  }
  return json;
}

}  // namespace

ExitCode simulate_list(const Context& context,
                       const SimulateListOptions& options,
                       const SimulateReports& reports) {
  const bool by_item = detail_for(reports) != TraceDetail::kNone || !options.queues.empty();
  const auto loaded = load(options, by_item ? kPictureBytes : kSummaryBytes);
  if (!loaded) {
    return context.report(loaded.error());
  }
  const auto prices = loaded->list
                          ? prices_for(options.costs, *loaded->list)
                          : prices_for(options.costs, loaded->order.stages, loaded->actions());
  if (!prices) {
    return context.report(prices.error());
  }
  auto timed = by_item ? time_by_item(*loaded, *prices, options) : time_by_pass(*loaded, *prices);
  if (!timed && timed.error().code == ErrorCode::kUnsupported && !by_item) {
    timed = time_by_item(*loaded, *prices, options);  // more kinds of work than the pass can number
  }
  if (!timed) {
    return context.report(timed.error());
  }
  const OrderCheck& check = timed->check;
  SimulatedStep step{.title = sizes_text(*loaded),
                     .subtitle = fmt::format("{}; makespan {:.6g}, bubble {}",
                                             prices->text,
                                             prices->in_units(check.timing.makespan),
                                             percent(check.timing.bubble_rate())),
                     .unit = {.seconds = prices->unit_seconds, .name = {}},
                     .list = SimulatedList{.order = loaded->order,
                                           .prices = *prices,
                                           .makespan = check.timing.makespan,
                                           .queued_by = options.queues},
                     .trace = std::move(timed->trace)};
  step.trace.plan_summary = step.title;
  step.trace.made_by = {{"program", "stagewright " + std::string(version())},
                        {"command", context.command_line}};
  nlohmann::json json = list_json(*loaded, options, check, *prices);
  add_explanation(timed->bubbles, timed->path, json);
  std::string text = step.title + "\n\n" + to_text(check, *prices);
  if (const auto steady = steady_state(*loaded, *prices, check.timing)) {
    text += steady_text(*steady, *prices);
    json["steady_state"] = {{"makespan", prices->in_units(steady->time)},
                            {"bubble_rate", steady->bubble}};
  }
  text += explanation_text(timed->bubbles, timed->path);
  return print_with_reports(context, reports, step, std::move(json), std::move(text));
}

}  // namespace stagewright
