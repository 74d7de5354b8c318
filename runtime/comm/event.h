#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "core/base/result.h"
#include "core/base/units.h"

namespace stagewright {

/// When an operation reached each point of its life, since the start of the run.
/// `started - ready` is waiting for peers, `done - started` is transferring.
struct CommTimes {
  TimePoint posted;   ///< the call was made
  TimePoint ready;    ///< this rank could begin: stream reached it, awaited event was complete
  TimePoint started;  ///< the last peer was ready too
  TimePoint done;     ///< its buffers may be used again
  /// What the transfer takes of a core: processor time of the threads that made it, divided evenly
  /// among those whose members it is for.  Zero where a backend does not know.
  Duration thread_time{};
  friend bool operator==(const CommTimes&, const CommTimes&) = default;
};

/// What a backend implements for its events.
class EventState {
 public:
  EventState() = default;
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;
  virtual ~EventState() = default;

  /// Complete or failed; never goes back to false.  What the operation wrote is then
  /// visible to the calling thread.
  [[nodiscard]] virtual bool ready() const = 0;
  /// Why it failed, if it did.
  [[nodiscard]] virtual std::optional<Error> failure() const = 0;
  /// REQUIRES: ready().
  [[nodiscard]] virtual CommTimes times() const = 0;
  /// Returns once ready(); throws BackendError if it failed or the backend's limit of
  /// waiting passed, which also ends the run of every other rank.
  virtual void wait() = 0;
};

/// Completes once, when the operation that returned it is done.  A cheap handle: copies
/// are the same event.  Safe to use from any thread.
class Event {
 public:
  /// An event that was complete from the start: "wait for nothing".
  [[nodiscard]] static Event none() { return Event(nullptr); }
  explicit Event(std::shared_ptr<EventState> state) : state_(std::move(state)) {}

  /// Complete or failed.  Never blocks.
  [[nodiscard]] bool ready() const { return state_ == nullptr || state_->ready(); }
  /// Blocks until complete.  The waiting thread helps to move its rank's communication.
  /// Throws BackendError if the operation failed, was aborted or took too long.
  void wait() const {
    if (state_ != nullptr) {
      state_->wait();
    }
  }
  [[nodiscard]] std::optional<Error> failure() const {
    return state_ == nullptr ? std::nullopt : state_->failure();
  }
  /// REQUIRES: ready().  All zero for none().
  [[nodiscard]] CommTimes times() const {
    return state_ == nullptr ? CommTimes{} : state_->times();
  }
  /// For backends: null for none().
  [[nodiscard]] const std::shared_ptr<EventState>& state() const { return state_; }

 private:
  std::shared_ptr<EventState> state_;
};

}  // namespace stagewright
