#include "gui/models/opened_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/base/data_files.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "core/model/model_graph.h"
#include "formats/token_list_file.h"
#include "gui/models/schedule_order.h"
#include "planner/lower/lower.h"
#include "sim/analysis/list_trace.h"
#include "sim/analysis/order_check.h"
#include "sim/engine/static_pass.h"

namespace stagewright::gui {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{4} << 30U;
constexpr std::int32_t kMostRanks = 1'000'000;
constexpr double kMostTracedActions = 12e6;  ///< beyond it, one rank of those alike

const char* const kWhatOpens =
    "open a trace (.swtrace or Chrome JSON of this program), a plan, a schedule file, or a "
    "pipeline order (CSV of torch.distributed.pipelining, or a schedule vector)";

/// Tells whoever waits; false once they gave up.
bool tell(const OpenOptions& options, std::string_view what) {
  return !options.progress || options.progress(what);
}

tl::unexpected<Error> given_up(const std::string& path) {
  return fail(ErrorCode::kInfeasible, "opening was cancelled", path);
}

/// Among those after the first, which pays for warming up, the one of median length.
std::int32_t usual_step(const Trace& trace) {
  std::vector<std::pair<Duration, std::int32_t>> steps;
  for (std::size_t i = trace.step_times.size() > 1 ? 1 : 0; i < trace.step_times.size(); ++i) {
    steps.emplace_back(trace.step_times[i], static_cast<std::int32_t>(i));
  }
  if (steps.empty()) {
    return 0;
  }
  std::ranges::sort(steps);
  return steps[(steps.size() - 1) / 2].second;
}

/// Lays out what a trace holds.
Result<OpenedFile> finish(OpenedFile file, const OpenOptions& options) {
  if (!tell(options, "Laying out the timeline")) {
    return given_up(file.path);
  }
  for (const TraceEvent& event : file.trace.events) {
    if (event.rank.value() >= kMostRanks) {
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("rank {} is beyond the {} that can be shown", event.rank.value(), kMostRanks),
          file.path);
    }
  }
  file.shown = show_step(file, options.step.value_or(usual_step(file.trace)));
  if (file.shown.actions.size() == 0) {
    return fail(ErrorCode::kInvalidInput,
                options.step ? fmt::format("has no actions in step {}", *options.step)
                             : "has no actions to show; record one with 'stagewright run --trace' "
                               "or 'simulate --trace'",
                file.path);
  }
  if (!file.unit_costs) {
    file.unit = usual_unit(Duration(file.shown.actions.length));
  }
  file.axes = file.schedule && file.plan
                  ? axes_of(file.shown.actions, *file.schedule, file.plan->cluster)
                  : axes_of(file.shown.actions);
  file.stages = stage_times(file);
  return file;
}

Result<OpenedFile> open_trace(const std::string& content,
                              const std::string& path,
                              const OpenOptions& options) {
  if (!tell(options, "Reading the trace")) {
    return given_up(path);
  }
  Result<Trace> trace = parse_trace(content, path);
  if (!trace) {
    return pass_on(std::move(trace));
  }
  OpenedFile file{.path = path, .kind = FileKind::kTrace};
  file.title = trace->plan_summary.empty() ? trace->model : trace->plan_summary;
  file.trace = *std::move(trace);
  return finish(std::move(file), options);
}

Result<OpenedFile> open_plan_text(const std::string& content,
                                  const std::string& path,
                                  const OpenOptions& options) {
  auto files = options.profiles.empty() ? Result<DataFiles>(DataFiles::embedded())
                                        : DataFiles::with_overrides(options.profiles);
  if (!files) {
    return pass_on(std::move(files));
  }
  Result<PlanInputs> inputs = parse_plan_inputs(*files, content, path);
  if (!inputs) {
    return pass_on(std::move(inputs));
  }
  return open_plan(*files, *std::move(inputs), path, options);
}

/// Every action takes one unit, a whole backward two; a unit is a second of simulated time.
Result<OpenedFile> open_order(const TokenList& list, OpenedFile file, const OpenOptions& options) {
  using namespace std::chrono_literals;
  if (!tell(options, "Timing the order")) {
    return given_up(file.path);
  }
  const PipelineCosts costs = costs_per_stage(
      {.forward = 1s, .backward = 2s, .backward_input = 1s, .backward_weight = 1s, .recompute = 1s},
      list.stages);
  const OrderCheck check = check_order(list, costs);
  if (check.fault) {
    return fail(
        ErrorCode::kInfeasible, "the order is not valid: " + check.fault->to_string(), file.path);
  }
  file.title = fmt::format("{} ranks, {} stages, {} micro-batches, unit costs",
                           list.ranks.size(),
                           list.stages,
                           list.micro_batches);
  file.trace = list_trace(list, costs, check.timing);
  file.unit = {.seconds = 1, .name = {}};
  file.unit_costs = true;
  return finish(std::move(file), options);
}

Result<OpenedFile> open_token_list(const std::string& content,
                                   const std::string& path,
                                   const OpenOptions& options) {
  Result<TokenList> list = parse_token_list(content, path);
  if (!list) {
    return pass_on(std::move(list));
  }
  return open_order(*list, {.path = path, .kind = FileKind::kTokenList}, options);
}

Result<OpenedFile> open_schedule(const std::string& content,
                                 const std::string& path,
                                 const OpenOptions& options) {
  if (!tell(options, "Reading the schedule")) {
    return given_up(path);
  }
  Result<Schedule> schedule = parse_schedule(content, path);
  if (!schedule) {
    return pass_on(std::move(schedule));
  }
  const TokenList list = compute_order(*schedule);
  OpenedFile file{.path = path, .kind = FileKind::kSchedule};
  file.schedule = *std::move(schedule);
  return open_order(list, std::move(file), options);
}

}  // namespace

std::optional<FileKind> recognise(std::string_view content) {
  constexpr std::size_t kLook = 4096;
  const std::string_view head = content.substr(0, kLook);
  const auto has = [head](std::string_view key) {
    return head.find(key) != std::string_view::npos;
  };
  if (head.starts_with("SWTR") || has("\"traceEvents\"")) {
    return FileKind::kTrace;
  }
  if (has("\"stagewright-schedule\"")) {
    return FileKind::kSchedule;
  }
  const std::size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) {
    return std::nullopt;
  }
  if (head[first] == '{' && has("\"model\"") && has("\"version\"")) {
    return FileKind::kPlan;
  }
  if (head[first] == '{' && has("\"displayTimeUnit\"")) {
    return FileKind::kTrace;
  }
  if (has("\"num_stages\"") || has("\"mb_placement\"")) {
    return FileKind::kTokenList;
  }
  // A line of a CSV: "0F0,0F1,,...".
  const std::string_view line = head.substr(first, head.find('\n', first) - first);
  const std::size_t letter = line.find_first_not_of(",0123456789");
  const bool token = letter != std::string_view::npos && letter > 0 &&
                     std::string_view("FBIWR").find(line[letter]) != std::string_view::npos;
  return token ? std::optional(FileKind::kTokenList) : std::nullopt;
}

Result<OpenedFile> open_file(const std::string& path, const OpenOptions& options) {
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (std::filesystem::is_directory(status)) {
    return fail(ErrorCode::kInvalidInput, std::string("is a folder; ") + kWhatOpens, path);
  }
  // A device or a pipe may never end.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return fail(ErrorCode::kInvalidInput, std::string("is no regular file; ") + kWhatOpens, path);
  }
  const std::uintmax_t size = std::filesystem::file_size(path, problem);
  if (!problem && size > kMostBytes) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("has {:.1f} GiB; more than {} GiB are not opened. Record fewer steps, or "
                    "write the compact form (.swtrace)",
                    static_cast<double>(size) / (1U << 30U),
                    kMostBytes >> 30U),
        path);
  }
  if (!tell(options, "Reading the file")) {
    return given_up(path);
  }
  const Result<std::string> content = read_file(path);
  if (!content) {
    return tl::unexpected<Error>(content.error());
  }
  return open_content(*content, path, options);
}

Result<OpenedFile> open_content(const std::string& content,
                                const std::string& path,
                                const OpenOptions& options) {
  if (content.empty()) {
    return fail(ErrorCode::kInvalidInput, std::string("is empty; ") + kWhatOpens, path);
  }
  const std::optional<FileKind> kind = recognise(content);
  if (!kind) {
    return fail(ErrorCode::kInvalidInput, std::string("is of no known kind; ") + kWhatOpens, path);
  }
  switch (*kind) {
    case FileKind::kTrace:
      return open_trace(content, path, options);
    case FileKind::kPlan:
      return open_plan_text(content, path, options);
    case FileKind::kSchedule:
      return open_schedule(content, path, options);
    case FileKind::kTokenList:
      return open_token_list(content, path, options);
  }
  return fail(ErrorCode::kInvalidInput, kWhatOpens, path);
}

Result<OpenedFile> open_plan(const DataFiles& files,
                             PlanInputs inputs,
                             const std::string& where,
                             const OpenOptions& options) {
  if (!tell(options, "Lowering the plan")) {
    return given_up(where);
  }
  Result<Schedule> schedule = lower(inputs.model, inputs.cluster, inputs.plan);
  if (!schedule) {
    return tl::unexpected<Error>(in_plan_file(std::move(schedule).error(), where));
  }
  auto cost =
      make_cost(files, inputs.model, inputs.cluster, inputs.plan, "stagewright", std::nullopt);
  if (!cost) {
    return pass_on(std::move(cost));
  }
  return open_lowered(**cost, std::move(inputs), *std::move(schedule), where, options);
}

Result<OpenedFile> open_lowered(const CostModel& cost,
                                PlanInputs inputs,
                                Schedule schedule,
                                const std::string& where,
                                const OpenOptions& options) {
  if (!tell(options, "Simulating the step")) {
    return given_up(where);
  }
  double actions = 0;
  for (const RankBinding& rank : schedule.ranks) {
    actions += static_cast<double>(schedule.programs[rank.program.index()].actions.size());
  }
  SimulationOptions simulation_options{
      .trace_all_ranks = actions <= kMostTracedActions, .sign_trace = false, .explain = false};
  simulation_options.model_flops = model_flops(
      inputs.model, inputs.plan.global_batch() * inputs.plan.sequence, inputs.plan.sequence);
  Result<Simulation> simulation = simulate(schedule, inputs.cluster, cost, simulation_options);
  if (!simulation) {
    return pass_on(std::move(simulation));
  }
  OpenedFile file{.path = where, .kind = FileKind::kPlan, .title = summary(inputs.plan)};
  file.summary = std::move(simulation->summary);
  file.trace = std::move(simulation->trace);
  file.trace.plan_summary = file.title;
  file.trace.made_by = {{"program", "stagewright " + std::string(version())}};
  for (const RankBinding& rank : schedule.ranks) {
    const DeviceType& device = inputs.cluster.type_of(rank.device);
    file.devices.push_back({.whole = device.memory, .context = device.context});
  }
  file.plan = std::move(inputs);
  file.schedule = std::move(schedule);
  return finish(std::move(file), options);
}

Trace signed_trace(const OpenedFile& file) {
  Trace trace = file.trace;
  if (trace.schedule_hash.empty() && file.schedule) {
    trace.schedule_hash = schedule_hash(*file.schedule);
  }
  return trace;
}

ShownStep show_step(const OpenedFile& file, std::int32_t step) {
  ShownStep shown{.step = step,
                  .actions = store_actions(file.trace, step),
                  .memory = memory_lanes(file.trace, step, file.devices)};
  shown.statistics = statistics_of(shown.actions, everything(shown.actions));
  return shown;
}

}  // namespace stagewright::gui
