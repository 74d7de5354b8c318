#include "runtime/comm/host_operation.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "runtime/backend_error.h"
#include "runtime/comm/host_progress.h"

namespace stagewright {

std::optional<Error> HostOperation::failure() const {
  return state_.load() == State::kFailed ? error_ : std::nullopt;
}

CommTimes HostOperation::times() const {
  SW_CHECK(ready(), "times are read after the event is ready");
  return times_;
}

void HostOperation::wait() {
  if (!ready()) {  // else its home may be gone
    home_.wait(*this);
  }
  if (const std::optional<Error> failed = failure()) {
    throw BackendError(*failed);
  }
}

void HostOperation::finish(TimePoint started,
                           TimePoint done,
                           Duration thread_time,
                           Agenda& agenda) {
  times_.started = started;
  times_.done = done;
  times_.thread_time = thread_time;
  settle(State::kDone, agenda);
}

void HostOperation::fail(Error error, Agenda& agenda) {
  error_ = std::move(error);
  settle(State::kFailed, agenda);
}

void HostOperation::settle(State state, Agenda& agenda) {
  SW_CHECK(!ready(), "an event completes once");
  state_.store(state);
  home_.ring();
  if (home_.has_blocked()) {
    agenda.pump_later(home_);
  }
  if (has_dependents_.load()) {
    const std::lock_guard lock(dependents_mutex_);
    for (HostProgress* dependent : dependents_) {
      agenda.pump_later(*dependent);
    }
    dependents_.clear();
  }
}

bool HostOperation::pump_when_ready(HostProgress& progress) {
  // settle() writes the state and then reads the flag, this the other way round.
  const std::lock_guard lock(dependents_mutex_);
  has_dependents_.store(true);
  if (ready()) {
    return false;
  }
  if (std::find(dependents_.begin(), dependents_.end(), &progress) == dependents_.end()) {
    dependents_.push_back(&progress);
  }
  return true;
}

}  // namespace stagewright
