#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "runtime/comm/agenda.h"
#include "runtime/comm/doorbell.h"
#include "runtime/comm/host_operation.h"

namespace stagewright {

class HostRun;
class Meeting;

/// Operations in order.  Guarded by the lock of the HostProgress that it was added to.
struct HostQueue {
  std::string label;
  std::deque<std::shared_ptr<HostOperation>> operations;
  bool front_has_begun = false;
};

/// Moves the operations of one rank: begins those at the heads of its queues, and makes the
/// transfers in which the rank takes part.
///
/// No operation ever blocks a thread.  Whatever makes one able to go on (a post, a
/// completion, the last member's arrival) moves it on in the thread where it happened, so
/// that small operations need no thread to wake.  Large transfers are offered in chunks to
/// every member: to the threads that wait for one of its events, or, where none waits,
/// to a progress thread, which a rank starts when it first needs one.
class HostProgress {
 public:
  HostProgress(HostRun& run, RankId rank) : run_(run), rank_(rank) {}
  HostProgress(const HostProgress&) = delete;
  HostProgress& operator=(const HostProgress&) = delete;
  ~HostProgress() { stop_thread(); }

  [[nodiscard]] RankId rank() const { return rank_; }
  [[nodiscard]] HostRun& run() const { return run_; }

  void add(HostQueue& queue);
  void remove(HostQueue& queue);
  /// Null if all are done.
  [[nodiscard]] std::shared_ptr<HostOperation> first_unfinished(const HostQueue& queue);
  /// Throws BackendError if the run was aborted.
  void post(HostQueue& queue, const std::shared_ptr<HostOperation>& operation);
  /// Begins what can begin.
  void pump(Agenda& agenda);
  /// Whether an operation is queued that has not begun.
  [[nodiscard]] bool has_blocked() const { return blocked_.load() > 0; }

  /// Returns when `operation` is ready.  Throws BackendError if the run was aborted, which it
  /// does itself when the limit of waiting has passed.
  void wait(HostOperation& operation);
  /// Something that a waiting thread may be waiting for has changed.
  void ring() { bell_.ring(); }

  /// Gives the rank's threads a transfer to take chunks of.
  void offer(const std::shared_ptr<Meeting>& meeting);
  [[nodiscard]] bool has_waiters() const { return waiters_.load() > 0; }
  void wake_thread();
  void stop_thread();
  /// Makes all of a transfer in the calling thread.
  void transfer(Meeting& meeting, Agenda& agenda);
  /// Returns when no thread of this rank is inside a transfer.  REQUIRES: run is aborted.
  void await_transfers() const;
  /// REQUIRES: run is aborted.
  void fail_all(const Error& reason);

  /// Why `operation` is not ready, for people: "<what>: not arrived: rank 3 (...)".
  [[nodiscard]] static std::string explain(const HostOperation& operation);
  /// What this rank is doing as far as its communication tells.
  [[nodiscard]] std::string activity();

 private:
  struct Obstacle;
  [[nodiscard]] std::optional<Obstacle> obstacle(const HostOperation& operation);
  void pump_queue(HostQueue& queue, Agenda& agenda);
  [[nodiscard]] bool may_begin(HostOperation& operation, Agenda& agenda);
  [[nodiscard]] std::shared_ptr<Meeting> next_offer();
  [[nodiscard]] bool transfer_one_chunk(Agenda& agenda);
  /// False where none is left, or it failed.
  [[nodiscard]] bool make_chunk(Meeting& meeting, Agenda& agenda, std::optional<Error>& failed);
  void wait_until_ready(HostOperation& operation);
  /// After waiting: offers made while this thread still counted as one that waits are not
  /// left to nobody.
  void leave_offers();
  void give_up(HostOperation& operation);
  void run_thread();

  HostRun& run_;
  RankId rank_;

  std::mutex mutex_;
  std::vector<HostQueue*> queues_;
  std::shared_ptr<HostOperation> last_posted_;
  std::atomic<int> blocked_ = 0;

  Doorbell bell_;  // for threads in wait()
  std::atomic<int> waiters_ = 0;

  std::mutex offers_mutex_;
  std::vector<std::shared_ptr<Meeting>> offers_;
  std::atomic<int> offer_count_ = 0;
  std::atomic<int> transferring_ = 0;

  std::mutex thread_mutex_;
  Doorbell thread_bell_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace stagewright
