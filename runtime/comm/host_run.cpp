#include "runtime/comm/host_run.h"

#include <utility>

#include "runtime/backend_error.h"
#include "runtime/comm/host_progress.h"

namespace stagewright {

HostRun::HostRun(int ranks, const HostRunOptions& options) : options_(options) {
  progress_.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    progress_.push_back(std::make_unique<HostProgress>(*this, RankId(rank)));
  }
}

HostRun::~HostRun() {
  // All of them before the first goes: a thread of one rank touches the others' queues.
  for (const auto& progress : progress_) {
    progress->stop_thread();
  }
}

std::optional<Error> HostRun::failure() const {
  if (!aborted()) {
    return std::nullopt;
  }
  const std::lock_guard lock(abort_mutex_);
  return failure_;
}

void HostRun::throw_if_aborted() const {
  if (const std::optional<Error> reason = failure()) {
    throw BackendError(*reason);
  }
}

void HostRun::abort(Error reason) {
  const std::lock_guard lock(abort_mutex_);
  if (failure_) {
    return;
  }
  failure_ = std::move(reason);
  aborted_.store(true);
  // A transfer that began before it could see the flag ends by itself, soon.
  for (const auto& progress : progress_) {
    progress->await_transfers();
  }
  for (const auto& progress : progress_) {
    progress->fail_all(*failure_);
  }
}

}  // namespace stagewright
