#pragma once

#include <optional>
#include <string>

#include "cli/context.h"
#include "cli/schedule_costs.h"
#include "cli/schedule_source.h"
#include "cli/simulate_report.h"

namespace stagewright {

/// `simulate PLAN`: options of its own.
struct SimulatePlanOptions {
  std::string plan;
  std::string model;
  std::string cluster;
  std::string framework = "stagewright";
  std::string profile;
  std::string schedule_out;
  std::string memory_cap;  ///< what a device may hold; empty: none
  bool all_ranks = false;
};
[[nodiscard]] ExitCode simulate_plan(const Context& context,
                                     const SimulatePlanOptions& options,
                                     const SimulateReports& reports);

/// `simulate --schedule NAME|FILE`: options of its own.
struct SimulateListOptions {
  std::string schedule;
  OrderOptions order;
  CostOptions costs;
  std::string queues;  ///< name of a queue model; empty: free links
};
[[nodiscard]] ExitCode simulate_list(const Context& context,
                                     const SimulateListOptions& options,
                                     const SimulateReports& reports);

}  // namespace stagewright
