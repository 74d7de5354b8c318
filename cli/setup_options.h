#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/model/model_sizes.h"
#include "core/training/training_setup.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// A training run as the command line says it, for commands that explain one without lowering it.
struct SetupOptions {
  std::string model;
  std::string cluster;
  std::string framework = "generic";
  std::string precision = "bf16";
  std::string recompute;
  std::string attention;
  std::string schedule;
  std::int64_t sequence = 0;
  std::optional<std::int32_t> dp;
  std::int32_t tp = 1;
  std::int32_t pp = 1;
  std::int32_t cp = 1;
  std::int32_t ep = 1;
  std::int32_t virtual_stages = 1;
  std::int32_t micro_batch = 1;
  std::int64_t micro_batches = 0;
  std::optional<std::int64_t> global_batch;
  std::int32_t zero_stage = 0;
  bool sequence_parallel = false;
};

/// Adds them to a command; the result lives as long as the command does.
[[nodiscard]] std::shared_ptr<SetupOptions> add_setup_options(CLI::App& command);

struct ExplainedRun {
  ModelSizes sizes;
  TrainingSetup setup;
};
/// The run on its devices.  dp absent: as many replicas as the cluster has room for; micro-batches
/// absent: from the global batch, else enough to fill the pipeline.  Errors name the option.
[[nodiscard]] Result<ExplainedRun> explained_run(const DataFiles& files,
                                                 const SetupOptions& options);

/// The error of a run's check, which names fields of records and plans, with the option in their
/// place.
[[nodiscard]] Error as_option(Error error);

}  // namespace stagewright
