#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/context.h"
#include "cli/schedule_costs.h"
#include "core/base/result.h"
#include "core/schedule/pipeline_order.h"
#include "core/schedule/schedule.h"
#include "core/trace/timeline.h"
#include "core/trace/trace.h"
#include "sim/engine/static_pass.h"
#include "study/plan_inputs.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// A plan whose step was timed.
struct SimulatedPlan {
  const PlanInputs& inputs;
  const Schedule& schedule;
  const CostModel& cost;
  const Summary& summary;
};

/// A bare schedule whose list was timed under bare costs.
struct SimulatedList {
  const PipelineOrder& order;
  const ListPrices& prices;
  Duration makespan{};
  std::string queued_by;  ///< the queue model under which it was; empty: links are free
};

/// What `simulate` has timed, a plan or a list, for its reports.
struct SimulatedStep {
  std::string title;     ///< one line: what was timed
  std::string subtitle;  ///< another: under which costs, with which result
  TimeUnit unit;         ///< of the numbers that people see
  std::optional<SimulatedPlan> plan;
  std::optional<SimulatedList> list;
  Trace trace;  ///< with at least the detail that the reports need
};

/// Something more that `simulate` can tell or write, with options of its own.  To add one: a file
/// with a class, a function that makes it and its line in simulate_report.cpp.
class SimulateReport {
 public:
  SimulateReport() = default;
  SimulateReport(const SimulateReport&) = delete;
  SimulateReport& operator=(const SimulateReport&) = delete;
  virtual ~SimulateReport() = default;

  /// Adds its options.  Without one of them it must do nothing.
  virtual void add_options(CLI::App& command) = 0;
  /// Whether its options go together; asked before anything is simulated.
  [[nodiscard]] virtual Result<void> check() const { return {}; }
  /// How detailed a trace it needs.
  [[nodiscard]] virtual TraceDetail detail() const { return TraceDetail::kNone; }
  /// What it has to say, and its files: under --json keys are added to `json`, else text that
  /// stands below the summary to `text`.
  [[nodiscard]] virtual Result<void> write(const Context& context,
                                           const SimulatedStep& step,
                                           nlohmann::json& json,
                                           std::string& text) const = 0;
};

using SimulateReports = std::vector<std::unique_ptr<SimulateReport>>;

/// All reports, in the order in which they are printed.
[[nodiscard]] SimulateReports make_simulate_reports();
[[nodiscard]] std::unique_ptr<SimulateReport> make_timeline_report();
[[nodiscard]] std::unique_ptr<SimulateReport> make_event_report();
[[nodiscard]] std::unique_ptr<SimulateReport> make_failure_report();

/// The first contradiction among the options of any of them.
[[nodiscard]] Result<void> check_options(const SimulateReports& reports);

/// The most detailed trace that one of them needs.
[[nodiscard]] TraceDetail detail_for(const SimulateReports& reports);

/// Says that a file was written: `what` it holds in a line of the text, its path in "files" of
/// JSON.
void note_written(const std::string& path,
                  std::string_view what,
                  const char* key,
                  nlohmann::json& json,
                  std::string& text);

/// Lets all reports write and prints the result: `json` or `text`, with what they add.
[[nodiscard]] ExitCode print_with_reports(const Context& context,
                                          const SimulateReports& reports,
                                          const SimulatedStep& step,
                                          nlohmann::json json,
                                          std::string text);

}  // namespace stagewright
