#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/event_options.h"
#include "cli/output_files.h"
#include "cli/simulate_report.h"
#include "cli/table.h"
#include "core/base/version.h"
#include "sim/analysis/event_summary.h"
#include "sim/cost/step_constants.h"
#include "sim/engine/clock_check.h"
#include "sim/engine/event_trace.h"
#include "sim/engine/monte_carlo.h"
#include "sim/engine/order_events.h"
#include "sim/engine/schedule_events.h"
#include "study/plan_inputs.h"

namespace stagewright {
namespace {

constexpr std::size_t kMostLinks = 10;

/// Times as the command shows them: of a plan in seconds, of a bare schedule in its own unit.
class TimeScale {
 public:
  explicit TimeScale(const SimulatedStep& step)
      : unit_seconds_(step.list ? std::optional(step.list->prices.unit_seconds) : std::nullopt) {}

  [[nodiscard]] std::optional<double> unit_seconds() const { return unit_seconds_; }
  [[nodiscard]] std::string text(Duration time) const {
    return unit_seconds_ ? fmt::format("{:.6g}", number(time)) : to_string(time);
  }
  [[nodiscard]] double number(Duration time) const {
    return to_seconds(time) / unit_seconds_.value_or(1);
  }
  /// "mean_s" of seconds, "mean" of other units.
  [[nodiscard]] std::string key(const char* name) const {
    return unit_seconds_ ? name : fmt::format("{}_s", name);
  }

 private:
  std::optional<double> unit_seconds_;
};

/// The step by the event engine, and under jitter.
class EventReport final : public SimulateReport {
 public:
  void add_options(CLI::App& command) override {
    add_event_options(command, options_);
    add_output_option(command,
                      "--event-trace",
                      trace_,
                      "Write the actions as the event engine timed them (as --trace), of a plan")
        ->group("Event engine");
  }

  [[nodiscard]] Result<void> check() const override {
    return check_engine(options_, trace_.empty() ? "" : "--event-trace");
  }

  [[nodiscard]] Result<void> write(const Context& context,
                                   const SimulatedStep& step,
                                   nlohmann::json& json,
                                   std::string& text) const override {
    if (options_.asked_by().empty() && trace_.empty()) {
      return {};
    }
    const TimeScale scale(step);
    const auto ranks = step.list ? step.list->order.ranks.size() : step.plan->schedule.ranks.size();
    const auto files = context.files();
    if (!files) {
      return tl::unexpected<Error>(files.error());
    }
    const auto constants = load_step_constants(*files);
    if (!constants) {
      return tl::unexpected<Error>(constants.error());
    }
    const auto run = read_event_options(options_,
                                        static_cast<std::int32_t>(ranks),
                                        scale.unit_seconds(),
                                        (*constants)[StepConstant::kOverlapSlowdown]);
    if (!run) {
      return tl::unexpected<Error>(run.error());
    }
    const auto events = events_of(step, *run);
    if (!events) {
      return tl::unexpected<Error>(events.error());
    }
    Perturbation most = run->steady;
    most.jitter = run->jitter.value_or(0);
    if (auto fits = check_clock(events->graph, most, run->event.compute_slowdown); !fits) {
      return pass_on(std::move(fits));
    }
    std::vector<Duration> alone(events->graph.nodes());
    perturb(events->graph, run->steady, {}, alone);
    EventEngine engine(events->graph, run->event);
    const EventTimes& times = engine.run(alone);
    write_step(summarize_events(events->graph, alone, times, events->stands_for),
               static_time(step),
               scale,
               json,
               text);
    if (auto written = write_trace(context, step, *events, times); !written) {
      return written;
    }
    if (!trace_.empty()) {
      note_written(trace_, "the event engine's timeline", "event_trace", json, text);
    }
    if (run->jitter) {
      write_samples(events->graph, *run, scale, json, text);
    }
    return {};
  }

 private:
  /// Of a bare schedule only the graph.
  [[nodiscard]] Result<ScheduleEvents> events_of(const SimulatedStep& step,
                                                 const EventRun& run) const {
    if (step.list && !step.list->queued_by.empty()) {
      return fail(ErrorCode::kInvalidInput,
                  "the event engine has links of its own, free ones or --shared-ports; leave the "
                  "queues out",
                  "--queues");
    }
    if (step.list) {
      auto graph =
          order_events(step.list->order,
                       step.list->prices.costs,
                       {.links = options_.shared_ports ? OrderLinks::kPorts : OrderLinks::kFree});
      if (!graph) {
        return pass_on(std::move(graph));
      }
      ScheduleEvents events;
      events.graph = *std::move(graph);
      return events;
    }
    if (options_.shared_ports) {
      return fail(ErrorCode::kInvalidInput,
                  "a plan's cluster says which ports there are; leave the option out",
                  "--shared-ports");
    }
    ScheduleEventOptions options{.representatives = run.jitter ? Representatives::kWithinReplica
                                                               : Representatives::kAll};
    for (const Straggler& straggler : run.steady.stragglers) {
      options.apart.push_back(straggler.rank);
    }
    return schedule_events(
        step.plan->schedule, step.plan->inputs.cluster, step.plan->cost, options);
  }

  [[nodiscard]] Result<void> write_trace(const Context& context,
                                         const SimulatedStep& step,
                                         const ScheduleEvents& events,
                                         const EventTimes& times) const {
    if (trace_.empty()) {
      return {};
    }
    if (!step.plan) {
      return fail(ErrorCode::kInvalidInput,
                  "of bare schedules there is no such trace; --trace has the static one",
                  "--event-trace");
    }
    constexpr std::size_t kMostRanks = 64;
    const Schedule& schedule = step.plan->schedule;
    Trace trace = event_trace(schedule, events, times, schedule.ranks.size() <= kMostRanks);
    trace.plan_summary = step.title;
    trace.made_by = {{"program", "stagewright " + std::string(version())},
                     {"command", context.command_line}};
    return save_trace(trace_, trace);
  }

  [[nodiscard]] static Duration static_time(const SimulatedStep& step) {
    return step.list ? step.list->makespan : step.plan->summary.step_time;
  }

  static void write_step(const EventSummary& summary,
                         Duration static_time,
                         const TimeScale& scale,
                         nlohmann::json& json,
                         std::string& text) {
    const double change =
        static_time > Duration{} ? to_seconds(summary.step_time) / to_seconds(static_time) - 1 : 0;
    nlohmann::json busy = nlohmann::json::array();
    for (const Duration of_rank : summary.busy) {
      busy.push_back(scale.number(of_rank));
    }
    nlohmann::json links = nlohmann::json::array();
    for (const LinkLoad& link : summary.links) {
      links.push_back(
          {{"link", link.name}, {"used", link.used}, {scale.key("lost"), scale.number(link.lost)}});
    }
    json["event"] = {{scale.key("step_time"), scale.number(summary.step_time)},
                     {"bubble", summary.bubble},
                     {scale.key("busy"), std::move(busy)},
                     {"links", std::move(links)}};
    text += fmt::format("\nevent engine: step {}, {} against the static pass; bubble {}\n",
                        scale.text(summary.step_time),
                        signed_percent(change),
                        percent(summary.bubble));
    if (!summary.links.empty()) {
      text += "\n" + links_text(summary, scale);
    }
  }

  static std::string links_text(const EventSummary& summary, const TimeScale& scale) {
    Table table({"link that may fill", "used", "lost by its flows"});
    const std::size_t shown = std::min(summary.links.size(), kMostLinks);
    for (std::size_t i = 0; i < shown; ++i) {
      const LinkLoad& link = summary.links[i];
      table.add({link.name, percent(link.used), scale.text(link.lost)});
    }
    std::string text = table.to_string();
    if (shown < summary.links.size()) {
      text += fmt::format("and {} others; --json has all\n", summary.links.size() - shown);
    }
    return text;
  }

  void write_samples(const EventGraph& graph,
                     const EventRun& run,
                     const TimeScale& scale,
                     nlohmann::json& json,
                     std::string& text) const {
    MonteCarloOptions monte_carlo{.perturbation = run.steady,
                                  .samples = options_.samples,
                                  .seed = static_cast<std::uint64_t>(options_.seed),
                                  .threads = options_.threads,
                                  .event = run.event};
    monte_carlo.perturbation.jitter = run.jitter.value_or(0);
    const StepSamples samples = sample_steps(graph, monte_carlo);
    const auto [least, most] = std::ranges::minmax(samples.times);
    json["monte_carlo"] = {{"samples", options_.samples},
                           {"seed", options_.seed},
                           {"jitter", run.jitter.value_or(0)},
                           {scale.key("mean"), scale.number(samples.mean)},
                           {scale.key("p50"), scale.number(samples.p50)},
                           {scale.key("p95"), scale.number(samples.p95)},
                           {scale.key("p99"), scale.number(samples.p99)},
                           {scale.key("least"), scale.number(least)},
                           {scale.key("most"), scale.number(most)}};
    text += fmt::format(
        "\n{} steps with a jitter of {}, seed {}: mean {}, p50 {}, p95 {}, p99 {}, from {} to {}\n",
        options_.samples,
        percent(run.jitter.value_or(0)),
        options_.seed,
        scale.text(samples.mean),
        scale.text(samples.p50),
        scale.text(samples.p95),
        scale.text(samples.p99),
        scale.text(least),
        scale.text(most));
  }

  EventCommand options_;
  std::string trace_;
};

}  // namespace

std::unique_ptr<SimulateReport> make_event_report() {
  return std::make_unique<EventReport>();
}

}  // namespace stagewright
