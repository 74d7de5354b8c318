#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "planner/search/search.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// What `stagewright plan` is told.
struct PlanOptions {
  std::string model;
  std::string cluster;
  std::string profile;
  std::string out;
  std::string precision;
  std::string objective = "step-time";
  std::string framework = "stagewright";
  std::string tokens;  ///< of the whole training: "2T"
  double device_hour = 0;
  double device_watts = 0;
  double gap_percent = 1;
  double seconds = 0;
  std::map<std::string, std::string> constraints;  ///< by dimension
  std::int32_t shown_rejections = 5;
  SearchRequest request;
};

/// One option per dimension, and the rest.
void add_plan_options(CLI::App& command, PlanOptions& options);

/// Moves constraints, objective and limits into options.request.
[[nodiscard]] Result<void> read_plan_options(const DataFiles& files, PlanOptions& options);

/// A count with a suffix: "300B", "2T", "1.5e12".
[[nodiscard]] Result<double> parse_count(const std::string& text, const std::string& where);

}  // namespace stagewright
