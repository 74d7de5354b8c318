#pragma once

#include <chrono>
#include <memory>

#include "core/base/units.h"
#include "runtime/comm/data_mover.h"
#include "runtime/comm/world.h"

namespace stagewright {

struct InProcessOptions {
  /// A rank that has waited this long ends the run, naming who had not arrived.  Longer than
  /// the longest computation between two operations of a healthy run.
  Duration timeout = std::chrono::seconds(60);
  /// A transfer up to this size is made at once by the thread that arrives last; a larger one
  /// is left to threads that wait, or else to the ranks' progress threads.  64 KiB take
  /// about as long to copy as a thread takes to wake.
  Bytes inline_limit = Bytes(64 * 1024);
  /// What moves the data; null: for memory of the host.
  std::shared_ptr<DataMover> mover;
};

/// A world whose ranks are threads of this process: hand-over without intermediate copies,
/// reductions in member order.  kInvalidInput if `spec` does not validate.
[[nodiscard]] Result<std::unique_ptr<World>> make_in_process_world(
    const WorldSpec& spec, const InProcessOptions& options = {});

}  // namespace stagewright
