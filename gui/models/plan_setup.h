#pragma once

/// What a user wants planned, as a form holds it, and the job that this is.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "planner/plan_job.h"

namespace stagewright::gui {

/// A cluster by name, or as so many nodes of one kind.
struct ClusterChoice {
  std::string named;  ///< preset, file or short form; empty: what follows
  std::int32_t nodes = 8;
  std::int32_t devices = 8;  ///< of a node
  std::string device = "h100-80gb-sxm";
  /// Absent: as the file of the cluster or of the device says.
  std::optional<BytesPerSecond> node_bandwidth;
  std::optional<BytesPerSecond> network_bandwidth;
  std::optional<Duration> network_latency;
  friend bool operator==(const ClusterChoice&, const ClusterChoice&) = default;

  /// Whether links differ from what the name stands for.
  [[nodiscard]] bool has_other_links() const {
    return node_bandwidth || network_bandwidth || network_latency;
  }
};

struct PlanSetup {
  std::string model = "llama3-8b";  ///< preset, or path of a configuration
  ClusterChoice cluster;
  std::int64_t global_batch = 512;                 ///< sequences
  std::int32_t sequence = 0;                       ///< tokens; 0: the model's longest
  std::map<std::string, std::string> constraints;  ///< values by name of the dimension, as typed
  std::string aim = "step-time";
  double device_hour = 0;   ///< price, of the aim "cost"
  double device_watts = 0;  ///< of the aim "energy"
  std::int32_t plans = 20;  ///< to keep
  friend bool operator==(const PlanSetup&, const PlanSetup&) = default;
};

/// "llama3-70b", ...: what there is in a folder of the data files ("models", "hardware",
/// "clusters").
[[nodiscard]] std::vector<std::string> preset_names(const DataFiles& files,
                                                    const std::string& folder);

/// The name by which `stagewright` finds the choice; with other links it only resembles it.
[[nodiscard]] std::string cluster_name(const ClusterChoice& choice);

/// Fails where the name or a number of the form stands for nothing.
[[nodiscard]] Result<Cluster> cluster_of(const DataFiles& files, const ClusterChoice& choice);

/// The whole job.  Errors name the field, dimensions as the command line does ("--tp").
[[nodiscard]] Result<PlanJob> job_of(const DataFiles& files, const PlanSetup& setup);

/// The same search as a command: "stagewright plan --model llama3-70b ...".
[[nodiscard]] std::string command_line(const PlanSetup& setup);

}  // namespace stagewright::gui
