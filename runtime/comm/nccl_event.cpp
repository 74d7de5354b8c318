#include "runtime/comm/nccl_event.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/backend_error.h"
#include "runtime/comm/nccl_rank.h"

namespace stagewright {

namespace {

class NcclHostEvent final : public NcclEvent {
 public:
  NcclHostEvent(std::shared_ptr<NcclRank> rank, std::string label)
      : NcclEvent(std::move(rank)), label_(std::move(label)) {
    times_.posted = times_.ready = this->rank().clock().now();
  }

  [[nodiscard]] bool ready() const override { return ready_.load(); }
  [[nodiscard]] std::optional<Error> failure() const override {
    return ready() ? error_ : std::nullopt;
  }
  [[nodiscard]] CommTimes times() const override {
    SW_CHECK(ready(), "times are read after the event is ready");
    return times_;
  }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("event '{}' of rank {}", label_, rank().id().value());
  }

  void fail(Error error) {
    SW_CHECK(!ready(), "an event completes once");
    error_.emplace(std::move(error));
    settle();
  }
  void settle() {
    SW_CHECK(!ready(), "an event completes once");
    times_.started = times_.done = rank().clock().now();
    ready_.store(true);
    rank().pump();
  }

 private:
  std::string label_;
  CommTimes times_;             // complete before ready_ is set
  std::optional<Error> error_;  // the same
  std::atomic<bool> ready_ = false;
};

class NcclEventSource final : public EventSource {
 public:
  explicit NcclEventSource(std::shared_ptr<NcclHostEvent> event) : event_(std::move(event)) {}
  NcclEventSource(const NcclEventSource&) = delete;
  NcclEventSource& operator=(const NcclEventSource&) = delete;
  ~NcclEventSource() override {
    if (!event_->ready()) {
      fail(Error{ErrorCode::kBackendFailed, event_->describe() + " was given up", {}});
    }
  }

  [[nodiscard]] Event event() const override { return Event(event_); }
  void complete() override { event_->settle(); }
  void fail(Error error) override { event_->fail(std::move(error)); }

 private:
  std::shared_ptr<NcclHostEvent> event_;
};

}  // namespace

void NcclEvent::wait() {
  if (!ready()) {
    rank().wait(*this);
  }
  if (const std::optional<Error> failed = failure()) {
    throw BackendError(*failed);
  }
}

std::unique_ptr<EventSource> make_nccl_host_event(std::shared_ptr<NcclRank> rank,
                                                  std::string label) {
  return std::make_unique<NcclEventSource>(
      std::make_shared<NcclHostEvent>(std::move(rank), std::move(label)));
}

}  // namespace stagewright
