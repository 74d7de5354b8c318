#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "runtime/comm/control_link.h"
#include "runtime/comm/cuda_event_pool.h"
#include "runtime/comm/doorbell.h"
#include "runtime/comm/nccl_lanes.h"
#include "runtime/comm/nccl_operation.h"
#include "runtime/comm/nccl_stream.h"
#include "runtime/comm/run_clock.h"

namespace stagewright {

/// One rank whose communication NCCL does.
///
/// An operation is given to the device as soon as the device can keep its order by itself: when the
/// operations before it, on its stream and at its places, have been given to it, and the event that
/// it waits for is one of the device or complete.  So at every place operations reach NCCL in the
/// order in which they were posted, which is the same on all ranks, and none waits for the host
/// that need not.
class NcclRank : public std::enable_shared_from_this<NcclRank> {
 public:
  struct Setup {
    std::shared_ptr<const CudaLibrary> cuda;
    RankId id;
    int device = 0;
    Duration timeout{};  ///< a wait longer than this ends the run
    std::shared_ptr<const NcclLibrary> nccl;
  };

  /// Throws BackendError.
  explicit NcclRank(Setup setup);
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;
  ~NcclRank() = default;

  /// From now on it hears of errors of other ranks, and they of its own.
  void listen(std::unique_ptr<ControlLink> link);
  void use(std::unique_ptr<NcclLanes> lanes);
  /// Ends the connection and gives back what the device has.  REQUIRES: nobody uses it any more but
  /// for events.
  void close();

  [[nodiscard]] RankId id() const { return setup_.id; }
  [[nodiscard]] const RunClock& clock() const { return clock_; }
  [[nodiscard]] NcclLanes& lanes() { return *lanes_; }

  [[nodiscard]] std::shared_ptr<NcclStream> add_stream(std::string label);
  void remove_stream(NcclStream& stream);
  [[nodiscard]] std::shared_ptr<NcclOperation> first_unfinished(NcclStream& stream);

  /// See Stream::begin_after.
  [[nodiscard]] bool begin_after(NcclStream& stream, const Event& event);
  /// Throws BackendError if the run was aborted.
  void post(const std::shared_ptr<NcclOperation>& operation);
  /// Gives the device what it can take now.
  void pump();
  /// Settles it if the device has done it.
  void look_at(const NcclOperation& operation);
  /// Returns when the event is ready.  Throws BackendError if the run was aborted, which it does
  /// itself when the limit of waiting has passed.
  void wait(NcclEvent& event);

  /// Ends the run on all ranks.  The first reason of any rank counts.  On return nothing touches a
  /// buffer of this rank.
  void abort(Error reason);
  [[nodiscard]] bool aborted() const { return aborted_.load(); }
  /// Waits for the end of an abort that has begun.
  [[nodiscard]] std::optional<Error> failure();

 private:
  using Clock = std::chrono::steady_clock;
  /// A message to this rank itself, one side of it, whose other side has not begun.
  struct OpenSide {
    std::shared_ptr<NcclOperation> operation;
    NcclPart part;
  };
  struct Loopback {
    std::deque<OpenSide> sends;
    std::deque<OpenSide> receives;
  };
  /// What was found out under the lock, to be said when it is free.
  struct News {
    std::vector<ControlMessage> arrivals;
    std::optional<Error> problem;
  };

  // nccl_rank.cpp
  void use_device() const;
  void pump_locked(News& news);
  [[nodiscard]] bool issue_next(News& news);
  [[nodiscard]] bool may_issue(const NcclOperation& operation) const;
  void issue(const std::shared_ptr<NcclOperation>& operation, News& news);
  void call(NcclOperation& operation);
  void copy_alone(const NcclPart& part, cudaStream_t stream);
  void end_issue(NcclOperation& operation);
  void meet_itself(const std::shared_ptr<NcclOperation>& operation, const NcclPart& part);
  void copy_to_itself(const OpenSide& send, const OpenSide& receive);
  void match(NcclOperation& operation);
  void settle(NcclStream& stream);
  void stamp(NcclOperation& operation, NcclStream& stream);
  [[nodiscard]] TimePoint time_of(cudaEvent_t event) const;
  void tell(News news);

  // nccl_failures.cpp
  struct Obstacle;
  [[nodiscard]] std::optional<Obstacle> obstacle(const NcclEvent& event);
  void give_up(const NcclEvent& event);
  [[nodiscard]] std::string activity();
  void watch();
  void end_run(Error reason);
  [[nodiscard]] bool await_end(Duration limit);
  [[nodiscard]] bool drain(Clock::time_point deadline);
  void fail_all();

  Setup setup_;
  RunClock clock_;
  CudaEventPool events_;
  std::unique_ptr<NcclLanes> lanes_;
  std::unique_ptr<ControlLink> link_;

  std::timed_mutex mutex_;
  std::deque<std::shared_ptr<NcclOperation>> queued_;  // in the order of posting
  std::vector<std::shared_ptr<NcclStream>> streams_;
  std::vector<cudaStream_t> idle_streams_;
  std::map<NcclLane*, Loopback> loopbacks_;
  std::shared_ptr<NcclOperation> last_posted_;
  std::optional<Error> device_error_;
  cudaEvent_t time_base_ = nullptr;  // when it happened is time_of_base_
  TimePoint time_of_base_;

  Doorbell bell_;  // for threads in wait()
  std::atomic<bool> aborted_ = false;
  std::mutex end_mutex_;
  std::condition_variable end_changed_;
  std::optional<Error> failure_;
  bool ended_ = false;
  // Of watch(), which the link's thread calls.
  std::optional<Clock::time_point> failing_since_;
  bool reported_ = false;
};

}  // namespace stagewright
