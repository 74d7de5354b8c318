#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/bubble_report.h"
#include "cli/json_text.h"
#include "cli/list_memory.h"
#include "cli/list_report.h"
#include "cli/memory_cap.h"
#include "cli/simulate_command.h"
#include "cli/table.h"
#include "core/base/version.h"
#include "core/schedule/list_order.h"
#include "planner/lower/lowered_list.h"
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
  std::vector<std::string> warnings;

  [[nodiscard]] double actions() const {
    double count = 0;
    for (const std::vector<Action>& rank : order.ranks) {
      count += static_cast<double>(rank.size());
    }
    return count;
  }
};

Result<Loaded> load(const SimulateListOptions& options, double bytes_an_action) {
  OrderOptions order = options.order;
  if (!names_a_file(options.schedule)) {
    // A search keeps the cap; the order of others is held against it.
    const auto generator = find_schedule(options.schedule);
    if (generator && !generator->synthesised) {
      order.synthesis.memory_cap.clear();
    }
    auto made = generate_order(options.schedule, order, options.costs, bytes_an_action);
    if (!made) {
      return pass_on(std::move(made));
    }
    return Loaded{
        .name = std::move(made->name), .order = std::move(made->order), .list = {}, .warnings = {}};
  }
  order.synthesis.memory_cap.clear();
  if (order.any()) {
    return fail(ErrorCode::kInvalidInput,
                "a file says by its list how many ranks, micro-batches and stages there are; "
                "leave out --ranks, --chunks, --virtual, --group, --parameter, --span and --effort",
                options.schedule);
  }
  auto read = load_list(options.schedule);
  if (!read) {
    return pass_on(std::move(read));
  }
  PipelineOrder made = order_of(read->list);
  return Loaded{
      std::move(read->name), std::move(made), std::move(read->list), std::move(read->warnings)};
}

/// Against --memory-cap, except of a search, which counts in units of its own.
Result<ListCaps> caps_of(const SimulateListOptions& options, const Loaded& loaded) {
  const auto generator = find_schedule(options.schedule);
  const bool searched = !loaded.list && generator && generator->synthesised;
  return check_caps(searched ? "" : options.order.synthesis.memory_cap, loaded.order);
}

/// A list with its figures, and why they are what they are.
struct Timed {
  OrderCheck check;                     ///< with a fault nothing else is filled in
  std::optional<ListFault> stuck = {};  ///< under the queue model that was asked for
  BubbleCauses bubbles;
  PathSums path;
  Trace trace;  ///< of single actions, where it was asked for
};

/// Figures alone, for a small number of bytes an action.
Result<Timed> time_by_pass(const Loaded& loaded, const ListPrices& prices) {
  Timed timed;
  if (loaded.list) {
    timed.check = check_order(*loaded.list, prices.costs);
    if (timed.check.fault) {
      return timed;
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
                           Timed& timed) {
  const auto model = model_named(options.queues);
  if (!model) {
    return {};
  }
  for (const auto& [checked, timing] : timed.check.queues) {
    if (checked == *model) {
      timed.stuck = timing.fault;
      timed.check.timing = timing;
      return {};
    }
  }
  return fail(ErrorCode::kInvalidInput,
              fmt::format("{} has no sends and receives that could queue; leave the option out, or "
                          "give a list that has them, as `schedules emit --lowered` writes it",
                          name),
              "--queues");
}

/// A file's list as it stands; a schedule's with transfers where they are to queue.
Result<TokenList> list_of(const Loaded& loaded, const SimulateListOptions& options) {
  if (loaded.list) {
    return *loaded.list;
  }
  return options.queues.empty() ? token_list(loaded.order) : lowered_list(loaded.order);
}

/// With the times of single actions.
Result<Timed> time_by_item(const Loaded& loaded,
                           const ListPrices& prices,
                           const SimulateListOptions& options) {
  const Result<TokenList> made = list_of(loaded, options);
  if (!made) {
    return fail(made.error().code, made.error().message, made.error().where);
  }
  const TokenList& list = *made;
  Timed timed{.check = check_order(list, prices.costs), .bubbles = {}, .path = {}, .trace = {}};
  if (timed.check.fault) {
    return timed;
  }
  if (auto chosen = choose_queues(options, loaded.name, timed); !chosen) {
    return pass_on(std::move(chosen));
  }
  if (timed.stuck) {
    return timed;
  }
  timed.trace = list_trace(list, prices.costs, timed.check.timing);
  const StepWork work = work_of(timed.trace);
  timed.bubbles = bubble_causes(work);
  timed.path = critical_path(work);
  return timed;
}

/// Of an asynchronous schedule, whose stretches follow each other without a drain.
struct SteadyState {
  Duration time{};         ///< of as many micro-batches as the list has
  double bubble = 0;       ///< mean over ranks
  double bubble_rate = 0;  ///< of the busiest rank
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
  ListTiming steady = timing;
  steady.makespan = *time;
  return SteadyState{*time, steady.bubble(), steady.bubble_rate()};
}

std::string steady_text(const SteadyState& steady, const ListPrices& prices) {
  return fmt::format(
      "steady state, stretch behind stretch without a drain: {:.6g} each, bubble {}\n",
      prices.in_units(steady.time),
      percent(steady.bubble));
}

std::string title_of(const Loaded& loaded) {
  return sizes_text(
      loaded.name, loaded.order.ranks.size(), loaded.order.stages, loaded.order.micro_batches);
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
  json["warnings"] = loaded.warnings;
  if (!options.queues.empty()) {
    json["queued_by"] = options.queues;
  }
  return json;
}

/// Why there are no figures.
std::optional<std::string> fault_text(const Timed& timed, const SimulateListOptions& options) {
  if (timed.check.fault) {
    return "the list is not valid: " + timed.check.fault->to_string();
  }
  if (timed.stuck) {
    return fmt::format("under --queues {}: {}", options.queues, timed.stuck->to_string());
  }
  return std::nullopt;
}

/// As `schedules check` does, with the keys of a list without figures.
ExitCode report_no_figures(const Context& context,
                           const Loaded& loaded,
                           const Timed& timed,
                           const std::string& fault,
                           nlohmann::json json) {
  *context.err << fmt::format("error: {}: {}\n", loaded.name, fault);
  if (context.json) {
    if (timed.stuck) {
      const nlohmann::json none = invalid_list_json(fault);
      for (const char* key :
           {"error", "makespan", "bubble", "bubble_rate", "span_bubble_rate", "idle_share"}) {
        json[key] = none.at(key);
      }
    }
    json["exit_code"] = static_cast<int>(ExitCode::kCheckFailed);
    *context.out << json_text(json);
  }
  return ExitCode::kCheckFailed;
}

std::string head_text(const Loaded& loaded) {
  return title_of(loaded) + "\n\n" + warnings_text(loaded.warnings);
}

/// For the reports.
SimulatedStep simulated_step(const Context& context,
                             const SimulateListOptions& options,
                             const Loaded& loaded,
                             const ListPrices& prices,
                             Timed timed) {
  const ListTiming& timing = timed.check.timing;
  SimulatedStep step{.title = title_of(loaded),
                     .subtitle = fmt::format("{}; makespan {:.6g}, bubble {}",
                                             prices.text,
                                             prices.in_units(timing.makespan),
                                             percent(timing.bubble())),
                     .unit = {.seconds = prices.unit_seconds, .name = {}},
                     .list = SimulatedList{.order = loaded.order,
                                           .prices = prices,
                                           .makespan = timing.makespan,
                                           .queued_by = options.queues},
                     .trace = std::move(timed.trace)};
  step.trace.plan_summary = step.title;
  step.trace.made_by = {{"program", "stagewright " + std::string(version())},
                        {"command", context.command_line}};
  return step;
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
  const auto caps = caps_of(options, *loaded);
  if (!caps) {
    return context.report(caps.error());
  }
  auto timed = by_item ? time_by_item(*loaded, *prices, options) : time_by_pass(*loaded, *prices);
  if (!timed && timed.error().code == ErrorCode::kUnsupported && !by_item) {
    timed = time_by_item(*loaded, *prices, options);  // more kinds of work than the pass can number
  }
  if (!timed) {
    return context.report(timed.error());
  }
  nlohmann::json json = list_json(*loaded, options, timed->check, *prices);
  if (const auto fault = fault_text(*timed, options)) {
    return report_no_figures(context, *loaded, *timed, *fault, std::move(json));
  }
  add_caps(*caps, json);
  std::string text = head_text(*loaded) + to_text(timed->check, *prices) + to_text(*caps);
  if (const auto steady = steady_state(*loaded, *prices, timed->check.timing)) {
    text += steady_text(*steady, *prices);
    json["steady_state"] = {{"makespan", prices->in_units(steady->time)},
                            {"bubble", steady->bubble},
                            {"bubble_rate", steady->bubble_rate}};
  }
  add_explanation(timed->bubbles, timed->path, json);
  text += explanation_text(timed->bubbles, timed->path);
  const bool holds = timed->check.runs() && caps->above.empty();
  const ExitCode printed =
      print_with_reports(context,
                         reports,
                         simulated_step(context, options, *loaded, *prices, *std::move(timed)),
                         std::move(json),
                         std::move(text));
  return printed == ExitCode::kSuccess && !holds ? ExitCode::kCheckFailed : printed;
}

}  // namespace stagewright
