#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/lifetimes.h"
#include "core/schedule/schedule.h"
#include "core/trace/trace.h"
#include "runtime/comm/world.h"
#include "runtime/compute/compute_device.h"
#include "runtime/executor/executed_operation.h"
#include "runtime/executor/micro_batch_source.h"
#include "runtime/executor/parameter_groups.h"
#include "runtime/trainer/learning_rate.h"

namespace stagewright {

/// Progress after a step, as rank 0 sees it.
struct StepProgress {
  std::int32_t step = 0;                ///< from 0
  std::int32_t steps = 0;               ///< wanted
  std::optional<double> loss;           ///< mean over the step's tokens
  std::optional<double> gradient_norm;  ///< global, before clipping
  Duration step_time{};
  std::int64_t tokens = 0;         ///< of a step
  std::int64_t skipped_steps = 0;  ///< so far: those that changed no weight
  double loss_scale = 1;           ///< of the next step
};

struct RunOptions {
  std::int32_t steps = 10;
  std::uint64_t seed = 0;  ///< of the initial weights and the sampling of the data

  /// Training data: a text file, a folder of text files, or tokens (`.bin`); see token_data.h.
  /// Empty for networks of images, which are synthetic (synthetic_images.h).
  std::filesystem::path data;
  std::optional<std::size_t> token_width;  ///< of `.bin`: 2 or 4 bytes

  RateSchedule rate;                   ///< of the optimizer's learning rate
  std::vector<ParameterGroup> groups;  ///< parameters with settings of their own

  /// Steps whose actions and operations are recorded; all others leave their time, loss and norm.
  /// Few by default, because a step of a large list leaves megabytes.
  std::int32_t first_traced_step = 0;
  std::optional<std::int32_t> traced_steps = 32;  ///< absent: all from the first on

  /// Also put the traced steps on the virtual clock (virtual_clock.h), for where ranks share cores.
  bool virtual_clock = false;

  /// After every so many steps the ranks compare what they have alike (replica_check.h), and the
  /// run ends where it is not the same; 0: never.
  std::int32_t check_replicas_every = 100;

  /// A rank that waits longer than this for another ends the run.
  Duration timeout = std::chrono::seconds(60);
  /// Set from outside (Ctrl-C): the run ends after the step that is running, or, if that does not
  /// end within `stop_limit`, with an error.  May be null.
  const std::atomic<bool>* stop = nullptr;
  Duration stop_limit = std::chrono::seconds(30);

  /// Called between steps on a thread of the run, while all ranks wait.
  std::function<void(const StepProgress&)> on_step;
  /// Called with the timeline of a step, as a trace of that step alone, when all ranks have ended
  /// it: of the first, and then of one in every `live_interval` at the most.  On a thread of the
  /// run, before the next step.  Not where ranks live in other processes.
  std::function<void(const Trace&)> on_live_trace;
  Duration live_interval = std::chrono::milliseconds(500);
  /// What the ranks communicate through, with an endpoint for each, or for one alone where the
  /// others live in other processes; absent: memory of this process.
  std::function<Result<std::unique_ptr<World>>(const WorldSpec&)> make_world;
  /// The device of a rank; absent: the CPU.
  std::function<std::unique_ptr<ComputeDevice>(RankId)> make_device;
};

struct RunReport {
  Trace trace;                         ///< measured: clock "wall"; losses and norms of all steps
  std::optional<Trace> virtual_trace;  ///< clock "virtual"; the traced steps alone, if asked for
  std::vector<MemoryPeaks> memory;     ///< by rank: high-water marks of the arena
  std::vector<Bytes> arenas;           ///< by rank: size of the block that was taken
  std::vector<std::vector<ExecutedOperation>> executed;  ///< by rank: log of the last step
  /// How the devices of this process ran what they were given, where there was a choice.
  std::vector<std::string> device_notes;
  bool stopped = false;            ///< by RunOptions::stop, before all steps were done
  std::int64_t skipped_steps = 0;  ///< that changed no weight: loss or gradient norm was no number
  double loss_scale = 1;           ///< at the end; 1 unless the schedule computes in fp16
};

/// Trains by a schedule, every rank a thread of this process, or each in a process of its own, all
/// of which get the report of all ranks, with times on the clock of rank 0.  A step whose loss or
/// gradient norm is no number changes no weight, on all ranks alike; in fp16 the next one has a
/// smaller loss scale.  Where that does not help, the run ends with the first tensor that was no
/// number (its name begins with the layer's). Errors: kInvalidInput for a schedule that does not
/// validate, steps below 1, an impossible rate or unusable data, kUnsupported for what this build
/// cannot run, kBackendFailed naming rank, action and peer when a rank fails, which ends all of
/// them within RunOptions::timeout.
[[nodiscard]] Result<RunReport> run(const Schedule& schedule, const RunOptions& options);

/// The same with data from `source` instead of RunOptions::data, and a schedule for each rank, as
/// ranks have that were started apart.  Unlike schedules are an error (kInvalidInput, naming the
/// ranks).  REQUIRES: as many schedules as the first has ranks.
[[nodiscard]] Result<RunReport> run(std::span<const Schedule* const> schedule_of_rank,
                                    const MicroBatchSource& source,
                                    const RunOptions& options);

/// Whether gradients need a loss scale: some loss is computed in fp16.
[[nodiscard]] bool needs_loss_scale(const Schedule& schedule);

/// Vocabulary of the model that a schedule trains; absent where it has neither embedding nor loss.
[[nodiscard]] std::optional<std::int64_t> vocabulary_of(const Schedule& schedule);

}  // namespace stagewright
