#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "runtime/comm/data_mover.h"
#include "runtime/comm/run_clock.h"

namespace stagewright {

class HostProgress;

struct HostRunOptions {
  Duration timeout{};        ///< a wait longer than this ends the run
  Bytes inline_limit;        ///< up to this the thread that arrives last transfers at once
  Bytes busy_inline_limit;   ///< the same while no core is idle
  Duration spin{};           ///< busy wait before a waiting thread sleeps
  bool spare_cores = false;  ///< there are more cores than ranks
  std::shared_ptr<DataMover> mover = make_host_mover();

  [[nodiscard]] Bytes transfer_limit(bool idle_core) const {
    return idle_core ? inline_limit : busy_inline_limit;
  }
};

/// What the ranks of one process share: clock, limits, and the end of the run.
class HostRun {
 public:
  HostRun(int ranks, const HostRunOptions& options);
  HostRun(const HostRun&) = delete;
  HostRun& operator=(const HostRun&) = delete;
  ~HostRun();

  [[nodiscard]] const RunClock& clock() const { return clock_; }
  [[nodiscard]] const HostRunOptions& options() const { return options_; }
  [[nodiscard]] int ranks() const { return static_cast<int>(progress_.size()); }
  [[nodiscard]] HostProgress& progress(RankId rank) { return *progress_[rank.index()]; }

  [[nodiscard]] bool aborted() const { return aborted_.load(); }
  [[nodiscard]] std::optional<Error> failure() const;
  /// Throws BackendError if the run was aborted.  By then no thread touches a buffer.
  void throw_if_aborted() const;

  /// Fails every pending operation.  The first reason counts.  On return no thread
  /// touches any buffer.  REQUIRES: the calling thread holds no lock of this layer and is
  /// not inside a transfer.
  void abort(Error reason);

 private:
  RunClock clock_;
  HostRunOptions options_;
  std::vector<std::unique_ptr<HostProgress>> progress_;
  std::atomic<bool> aborted_ = false;
  mutable std::mutex abort_mutex_;  // held until the abort is complete
  std::optional<Error> failure_;
};

}  // namespace stagewright
