#include "cli/simulate_report.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/json_text.h"

namespace stagewright {

SimulateReports make_simulate_reports() {
  SimulateReports reports;
  reports.push_back(make_timeline_report());
  reports.push_back(make_event_report());
  reports.push_back(make_failure_report());
  return reports;
}

Result<void> check_options(const SimulateReports& reports) {
  for (const auto& report : reports) {
    if (Result<void> checked = report->check(); !checked) {
      return checked;
    }
  }
  return {};
}

TraceDetail detail_for(const SimulateReports& reports) {
  TraceDetail most = TraceDetail::kNone;
  for (const auto& report : reports) {
    most = std::max(most, report->detail());
  }
  return most;
}

void note_written(const std::string& path,
                  std::string_view what,
                  const char* key,
                  nlohmann::json& json,
                  std::string& text) {
  json["files"][key] = path;
  text += fmt::format("\nwrote {} to {}\n", what, path);
}

ExitCode print_with_reports(const Context& context,
                            const SimulateReports& reports,
                            const SimulatedStep& step,
                            nlohmann::json json,
                            std::string text) {
  for (const auto& report : reports) {
    if (auto written = report->write(context, step, json, text); !written) {
      return context.report(written.error());
    }
  }
  if (context.json) {
    *context.out << json_text(json);
  } else {
    *context.out << text;
  }
  return ExitCode::kSuccess;
}

}  // namespace stagewright
