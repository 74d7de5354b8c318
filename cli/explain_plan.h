#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/setup_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// What `stagewright explain` is told about a plan and the questions on it.
struct ExplainPlanOptions {
  std::string plan;  ///< file; empty: the best plan of a search
  std::string profile;
  std::string given;                 ///< constraints in one text
  std::vector<std::string> why_not;  ///< each one wish
  std::vector<std::string> devices;  ///< to ask about; empty: the next faster one
  std::vector<std::string> only;     ///< sections; empty: all
  std::map<std::string, std::string>
      fixed;           ///< constraints by dimension, from options of their own
  double seconds = 0;  ///< of each search; 0: no limit
  std::int32_t threads = 0;
  bool names_framework = false;  ///< --framework was given
  bool names_precision = false;
};

/// Adds the options that explain_plan() reads beside those of SetupOptions.
void add_explain_plan_options(CLI::App& command, ExplainPlanOptions& options);

/// Reads from the command which of SetupOptions were given, as constraints.
[[nodiscard]] Result<void> read_given_options(const CLI::App& command, ExplainPlanOptions& options);

/// kInvalidInput where an option was given that only explain_plan() reads.
[[nodiscard]] Result<void> check_no_plan_options(const CLI::App& command);

/// Answers the questions that are asked about a plan.
[[nodiscard]] ExitCode explain_plan(const Context& context,
                                    const SetupOptions& setup,
                                    const ExplainPlanOptions& options);

}  // namespace stagewright
