#include "runtime/comm/host_progress.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/backend_error.h"
#include "runtime/comm/host_run.h"
#include "runtime/comm/meeting.h"

namespace stagewright {

void HostProgress::add(HostQueue& queue) {
  const std::lock_guard lock(mutex_);
  queues_.push_back(&queue);
}

void HostProgress::remove(HostQueue& queue) {
  const std::lock_guard lock(mutex_);
  std::erase(queues_, &queue);
}

std::shared_ptr<HostOperation> HostProgress::first_unfinished(const HostQueue& queue) {
  const std::lock_guard lock(mutex_);
  const auto unfinished = std::find_if(queue.operations.begin(),
                                       queue.operations.end(),
                                       [](const auto& operation) { return !operation->ready(); });
  return unfinished == queue.operations.end() ? nullptr : *unfinished;
}

void HostProgress::post(HostQueue& queue, const std::shared_ptr<HostOperation>& operation) {
  run_.throw_if_aborted();
  operation->mark_posted(run_.clock().now());
  Agenda agenda(*this);
  bool too_late = false;
  {
    const std::lock_guard lock(mutex_);
    too_late = run_.aborted();  // fail_all() has seen the queues or is about to
    if (!too_late) {
      queue.operations.push_back(operation);
      last_posted_ = operation;
      // Counted before the look at the queue's head: who completes it looks at the count after.
      blocked_.fetch_add(1);
      pump_queue(queue, agenda);
    }
  }
  if (too_late) {
    run_.throw_if_aborted();
  }
  agenda.run();
}

void HostProgress::pump(Agenda& agenda) {
  const std::lock_guard lock(mutex_);
  for (HostQueue* queue : queues_) {
    pump_queue(*queue, agenda);
  }
}

void HostProgress::pump_queue(HostQueue& queue, Agenda& agenda) {
  while (!queue.operations.empty() && !run_.aborted()) {
    const std::shared_ptr<HostOperation> front = queue.operations.front();
    if (!queue.front_has_begun) {
      if (!may_begin(*front, agenda)) {
        return;
      }
      queue.front_has_begun = true;
      blocked_.fetch_sub(1);
      front->mark_ready(run_.clock().now());
      front->drop_after();
      front->begin(agenda);
    }
    if (!front->ready()) {
      return;
    }
    queue.operations.pop_front();
    queue.front_has_begun = false;
  }
}

bool HostProgress::may_begin(HostOperation& operation, Agenda& agenda) {
  const Event& after = operation.after();
  if (!after.ready()) {
    auto* awaited = dynamic_cast<HostOperation*>(after.state().get());
    SW_CHECK(awaited != nullptr, "an operation waits for an event of its own backend");
    // Whoever completes an event of this rank pumps this rank anyway.
    if (&awaited->home() == this || awaited->pump_when_ready(*this)) {
      if (!after.ready()) {
        return false;
      }
    }
  }
  if (const std::optional<Error> failure = after.failure()) {
    agenda.abort_later(Error{failure->code,
                             fmt::format("rank {}: {} cannot begin, what it waits for failed: {}",
                                         rank_.value(),
                                         operation.describe(),
                                         failure->message),
                             failure->where});
    return false;
  }
  return true;
}

void HostProgress::fail_all(const Error& reason) {
  std::vector<std::shared_ptr<HostOperation>> queued;
  {
    const std::lock_guard lock(mutex_);
    for (HostQueue* queue : queues_) {
      queued.insert(queued.end(), queue->operations.begin(), queue->operations.end());
      queue->operations.clear();
      queue->front_has_begun = false;
    }
    blocked_.store(0);
  }
  Agenda ended(*this);  // never run: nothing begins any more
  for (const auto& operation : queued) {
    if (!operation->ready()) {
      operation->fail(reason, ended);
    }
  }
  ring();
}

void HostProgress::wait(HostOperation& operation) {
  waiters_.fetch_add(1);
  wait_until_ready(operation);
  waiters_.fetch_sub(1);
  leave_offers();
  if (!operation.ready()) {
    run_.throw_if_aborted();
  }
}

void HostProgress::wait_until_ready(HostOperation& operation) {
  const Doorbell::Host::time_point deadline =
      Doorbell::Host::now() +
      std::chrono::duration_cast<std::chrono::nanoseconds>(run_.options().timeout);
  Agenda agenda(*this);
  while (true) {
    const std::uint32_t epoch = bell_.epoch();
    if (operation.ready() || run_.aborted()) {
      return;
    }
    if (transfer_one_chunk(agenda) || bell_.spin(epoch, run_.options().spin)) {
      continue;
    }
    bell_.sleep_until(epoch, deadline);
    // Also when the bell rings all the time, for other operations.
    if (Doorbell::Host::now() >= deadline && !operation.ready()) {
      give_up(operation);
      return;
    }
  }
}

void HostProgress::leave_offers() {
  Agenda agenda(*this);
  while (waiters_.load() == 0) {
    const std::shared_ptr<Meeting> meeting = next_offer();
    if (meeting == nullptr || run_.aborted()) {
      return;
    }
    if (meeting->bytes() > run_.options().transfer_limit(run_.options().spare_cores)) {
      wake_thread();
      return;
    }
    (void)transfer_one_chunk(agenda);
  }
}

void HostProgress::give_up(HostOperation& operation) {
  run_.abort(Error{ErrorCode::kBackendFailed,
                   fmt::format("rank {} waited {} for {}",
                               rank_.value(),
                               to_string(run_.options().timeout),
                               explain(operation)),
                   {}});
}

void HostProgress::offer(const std::shared_ptr<Meeting>& meeting) {
  const std::lock_guard lock(offers_mutex_);
  offers_.push_back(meeting);
  offer_count_.fetch_add(1);
}

std::shared_ptr<Meeting> HostProgress::next_offer() {
  if (offer_count_.load() == 0) {
    return nullptr;
  }
  const std::lock_guard lock(offers_mutex_);
  while (!offers_.empty() && offers_.front()->all_taken()) {
    offers_.erase(offers_.begin());
    offer_count_.fetch_sub(1);
  }
  return offers_.empty() ? nullptr : offers_.front();
}

bool HostProgress::transfer_one_chunk(Agenda& agenda) {
  const std::shared_ptr<Meeting> meeting = next_offer();
  if (meeting == nullptr) {
    return false;
  }
  std::optional<Error> failed;
  transferring_.fetch_add(1);
  (void)make_chunk(*meeting, agenda, failed);
  transferring_.fetch_sub(1);
  if (failed) {
    run_.abort(*failed);
  }
  agenda.run();
  return true;
}

void HostProgress::transfer(Meeting& meeting, Agenda& agenda) {
  std::optional<Error> failed;
  transferring_.fetch_add(1);
  while (make_chunk(meeting, agenda, failed)) {
  }
  transferring_.fetch_sub(1);
  if (failed) {
    run_.abort(*failed);
  }
}

bool HostProgress::make_chunk(Meeting& meeting, Agenda& agenda, std::optional<Error>& failed) {
  if (run_.aborted()) {
    return false;
  }
  try {
    return meeting.transfer_chunk(run_.clock(), *run_.options().mover, agenda);
  } catch (const BackendError& error) {
    failed = error.error();
    return false;
  }
}

void HostProgress::await_transfers() const {
  while (transferring_.load() > 0) {
    std::this_thread::yield();
  }
}

void HostProgress::wake_thread() {
  const std::lock_guard lock(thread_mutex_);
  if (!thread_.joinable() && !stopping_.load()) {
    thread_ = std::thread([this] { run_thread(); });
  }
  thread_bell_.ring();
}

void HostProgress::stop_thread() {
  {
    const std::lock_guard lock(thread_mutex_);
    stopping_.store(true);
    thread_bell_.ring();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void HostProgress::run_thread() {
  Agenda agenda(*this);
  while (true) {
    const std::uint32_t epoch = thread_bell_.epoch();
    if (stopping_.load()) {
      return;
    }
    if (run_.aborted() || !transfer_one_chunk(agenda)) {
      thread_bell_.sleep(epoch);
    }
  }
}

}  // namespace stagewright
