#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "runtime/comm/agenda.h"
#include "runtime/comm/event.h"

namespace stagewright {

class HostProgress;

/// An operation posted to a rank's queue, which is also its event: pending, then begun (its
/// queue reached it and what it waits for is complete), then done or failed.
class HostOperation : public EventState {
 public:
  HostOperation(HostProgress& home, Event after) : home_(home), after_(std::move(after)) {}

  [[nodiscard]] bool ready() const override { return state_.load() != State::kPending; }
  [[nodiscard]] std::optional<Error> failure() const override;
  [[nodiscard]] CommTimes times() const override;
  void wait() override;

  /// Begins it; may call finish() at once.  Called once, under the home's lock: anything
  /// longer than a few list operations goes on the agenda.
  virtual void begin(Agenda& agenda) = 0;
  /// "all_reduce #3 of 1024 float32 (sum) on group 'tensor 0'"
  [[nodiscard]] virtual std::string describe() const = 0;
  /// Of one that has begun: what it is still waiting for.
  [[nodiscard]] virtual std::string missing() const = 0;

  void finish(TimePoint started, TimePoint done, Duration thread_time, Agenda& agenda);
  void fail(Error error, Agenda& agenda);

  [[nodiscard]] HostProgress& home() const { return home_; }
  [[nodiscard]] const Event& after() const { return after_; }
  /// Pumps `progress` when this becomes ready.  False: it is ready already.
  [[nodiscard]] bool pump_when_ready(HostProgress& progress);

  void mark_posted(TimePoint at) { times_.posted = at; }
  void mark_ready(TimePoint at) { times_.ready = at; }
  /// Lets go of what it waited for: an event must not keep all those before it alive.
  void drop_after() { after_ = Event::none(); }

 private:
  enum class State : std::uint8_t {
    kPending,
    kDone,
    kFailed
  };

  void settle(State state, Agenda& agenda);

  HostProgress& home_;
  Event after_;
  CommTimes times_;             // complete before state_ leaves kPending
  std::optional<Error> error_;  // the same
  std::atomic<State> state_ = State::kPending;

  std::atomic<bool> has_dependents_ = false;
  std::mutex dependents_mutex_;
  std::vector<HostProgress*> dependents_;
};

}  // namespace stagewright
