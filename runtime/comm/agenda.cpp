#include "runtime/comm/agenda.h"

#include <algorithm>
#include <utility>

#include "runtime/comm/host_progress.h"
#include "runtime/comm/host_run.h"
#include "runtime/comm/meeting.h"

namespace stagewright {

void Agenda::pump_later(HostProgress& progress) {
  if (std::find(pumps_.begin(), pumps_.end(), &progress) == pumps_.end()) {
    pumps_.push_back(&progress);
  }
}

void Agenda::transfer_later(std::shared_ptr<Meeting> meeting) {
  transfers_.push_back(std::move(meeting));
}

void Agenda::abort_later(Error reason) {
  if (!abort_) {
    abort_ = std::move(reason);
  }
}

void Agenda::run() {
  while (true) {
    if (abort_) {
      actor_.run().abort(*std::exchange(abort_, std::nullopt));
    } else if (!transfers_.empty()) {
      const std::shared_ptr<Meeting> meeting = std::move(transfers_.back());
      transfers_.pop_back();
      dispatch(meeting);
    } else if (!pumps_.empty()) {
      HostProgress* progress = pumps_.back();
      pumps_.pop_back();
      progress->pump(*this);
    } else {
      return;
    }
  }
}

void Agenda::dispatch(const std::shared_ptr<Meeting>& meeting) {
  const HostRunOptions& options = actor_.run().options();
  const std::vector<HostProgress*> members = meeting->transferring_members();
  const auto somebody_waits = [&members] {
    return std::any_of(
        members.begin(), members.end(), [](const HostProgress* m) { return m->has_waiters(); });
  };
  const bool idle_core = options.spare_cores || somebody_waits();
  if (meeting->bytes() <= options.transfer_limit(idle_core)) {
    actor_.transfer(*meeting, *this);
    return;
  }
  for (HostProgress* member : members) {
    member->offer(meeting);
  }
  // Asked again after the offer: a thread that stops waiting looks at the offers after.
  const bool wake_threads = options.spare_cores || !somebody_waits();
  for (HostProgress* member : members) {
    if (member->has_waiters()) {
      member->ring();
    } else if (wake_threads) {
      member->wake_thread();
    }
  }
}

}  // namespace stagewright
