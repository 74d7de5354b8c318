#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "cli/context.h"
#include "core/base/result.h"
#include "core/schedule/schedule.h"
#include "runtime/comm/launch_environment.h"
#include "runtime/compute/cuda_device.h"
#include "runtime/trainer/trainer.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// As they are written in the command line.
struct RunPlaceOptions {
  std::string device = "cpu";     ///< or "cuda"
  std::string replay = "faster";  ///< or "never", "always": ReplayUse
};
void add_options(CLI::App& command, RunPlaceOptions& options);

/// Where the ranks of a run are.
struct RunPlace {
  std::string device = "cpu";  ///< or "cuda"
  /// Who this process is, where each rank has one of its own; else they are threads of this one.
  std::optional<LaunchEnvironment> launch;
  CudaOptions cuda;
  /// Whether the ranks have been asked to meet: from then on they tell each other of failures.
  std::shared_ptr<std::atomic<bool>> met = std::make_shared<std::atomic<bool>>(false);
  /// Whether this process writes and prints what comes out.
  [[nodiscard]] bool reports() const { return !launch || launch->rank == 0; }
};

/// From --device, and from the variables of torchrun where they are set for more than one process.
/// kUnsupported for what processes cannot do, kInvalidInput for variables that make no sense.
[[nodiscard]] Result<RunPlace> find_run_place(const RunPlaceOptions& options, bool live_trace);

/// Prepares the options; with threads on a device that is not there, for the CPU, saying so.
[[nodiscard]] Result<void> go_to(const RunPlace& place,
                                 const Context& context,
                                 const Schedule& schedule,
                                 const std::string& plan_file,
                                 RunOptions& options);

/// Lets the other processes know where this one could not begin.
void tell_others(const RunPlace& place, const Error& error);

}  // namespace stagewright
