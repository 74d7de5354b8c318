#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/profile/profile.h"
#include "core/schedule/schedule.h"
#include "runtime/comm/world.h"
#include "runtime/compute/compute_device.h"
#include "runtime/profiler/device_clocks.h"

namespace stagewright {

struct ProfileOptions {
  std::string device = "cpu";  ///< canonical type that the profile is for
  std::int32_t warm_up = 2;    ///< steps of each schedule that do not count
  std::int32_t steps = 10;     ///< steps of each schedule that do
  std::uint64_t seed = 0;
  /// Keep the thread time of operations instead of their wall time, which means little where ranks
  /// share cores.
  bool virtual_clock = false;
  bool links = true;
  /// Of the link measurements.  Empty: 256 B to 16 MiB in powers of 4.
  std::vector<Bytes> message_sizes;
  std::int32_t link_repeats = 30;
  Duration timeout = std::chrono::seconds(60);  ///< as RunOptions::timeout
  const std::atomic<bool>* stop = nullptr;      ///< as RunOptions::stop; the profile fails then
  /// As in RunOptions: where the ranks compute and what they communicate through.
  std::function<Result<std::unique_ptr<World>>(const WorldSpec&)> make_world;
  std::function<std::unique_ptr<ComputeDevice>(RankId)> make_device;
  /// Watched while schedules run; what it saw stands in made_by. May be null.
  std::shared_ptr<DeviceClocks> clocks;

  struct Progress {
    std::string what;  ///< "schedule 2 of 5: 1f1b, 2 ranks"
    double done = 0;   ///< 0 to 1
  };
  std::function<void(const Progress&)> on_progress;
};

/// Times what the schedules run on this machine: trains each for some steps on random tokens, all
/// its ranks busy at once, and keeps the time of every operation and of every run of operations
/// that the simulator can price as a whole; then the links, between groups as large as those of the
/// schedules.  Errors as run(); kInvalidInput without schedules.
[[nodiscard]] Result<Profile> profile(std::span<const Schedule> schedules,
                                      const ProfileOptions& options = {});

/// The first part alone: operations and segments, links empty.
[[nodiscard]] Result<Profile> measure_segments(std::span<const Schedule> schedules,
                                               const ProfileOptions& options = {});

}  // namespace stagewright
