#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/exit_code.h"
#include "formats/measured_record.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// What `calibrate` reads of an own cluster beside logged steps.
struct ClusterOptions {
  bool own = false;                    ///< the records are logged steps of the cluster
  std::string profile;                 ///< of `stagewright profile`
  std::vector<std::string> logs;       ///< of nccl-tests
  std::vector<std::string> log_sizes;  ///< "4x8": nodes x devices of each log
  std::string device;                  ///< of the logs
  [[nodiscard]] bool any() const { return own || !profile.empty() || !logs.empty(); }
};
void add_cluster_options(CLI::App& command, ClusterOptions& options);

/// Calibrates for an own cluster; prints what was found and writes DIR/calibration/step_time.json
/// and, with links, DIR/hardware/DEVICE.json.  An empty `out` writes nothing.
[[nodiscard]] ExitCode calibrate_own_cluster(const Context& context,
                                             const ClusterOptions& options,
                                             const std::vector<RecordLine>& steps,
                                             const std::string& out);

}  // namespace stagewright
