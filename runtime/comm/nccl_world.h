#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/units.h"
#include "runtime/comm/launch_environment.h"
#include "runtime/comm/world.h"

namespace stagewright {

struct NcclOptions {
  /// Who this process is.  Rank 0 listens on its port.
  LaunchEnvironment launch;
  /// A rank that has waited this long ends the run, naming who had not arrived.  Longer than the
  /// longest computation between two operations of a healthy run.
  Duration timeout = std::chrono::seconds(60);
  /// For all ranks to start and to make their communicators, each.
  Duration start_limit = std::chrono::seconds(120);
  /// Files to load instead of the machine's libraries; empty: as SharedLibrary::open finds them.
  std::string cuda_library;
  std::string nccl_library;
};

/// A world with one rank in this process, on the device of its local rank, and the others in
/// others.  Buffers are memory of the device (or what the device can read); events of the host and
/// of the device wait for each other.  All communicators are made here, in one order on all ranks.
/// kInvalidInput if `spec` does not validate, kUnsupported without the libraries or a device (the
/// message says what is missing), kBackendFailed where ranks are missing or differ.
[[nodiscard]] Result<std::unique_ptr<World>> make_nccl_world(const WorldSpec& spec,
                                                             const NcclOptions& options);

}  // namespace stagewright
