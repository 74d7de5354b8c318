#include "runtime/comm/host_stream.h"

#include <utility>

#include <fmt/format.h>

#include "runtime/comm/host_run.h"

namespace stagewright {

namespace {

class MarkOperation final : public HostOperation {
 public:
  MarkOperation(HostProgress& home, Event after, std::string_view stream)
      : HostOperation(home, std::move(after)), stream_(stream) {}

  void begin(Agenda& agenda) override {
    const TimePoint now = home().run().clock().now();
    finish(now, now, {}, agenda);
  }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("a mark on stream '{}'", stream_);
  }
  [[nodiscard]] std::string missing() const override { return "nothing"; }

 private:
  std::string stream_;
};

/// Never queued: completed by the caller's code.
class SourceOperation final : public HostOperation {
 public:
  SourceOperation(HostProgress& home, std::string label)
      : HostOperation(home, Event::none()), label_(std::move(label)) {}

  void begin(Agenda& /*agenda*/) override {}
  [[nodiscard]] std::string describe() const override {
    return fmt::format("event '{}' of rank {}", label_, home().rank().value());
  }
  [[nodiscard]] std::string missing() const override { return "not completed by its owner"; }

 private:
  std::string label_;
};

class HostEventSource final : public EventSource {
 public:
  HostEventSource(HostProgress& progress, std::string label)
      : operation_(std::make_shared<SourceOperation>(progress, std::move(label))) {
    const TimePoint now = progress.run().clock().now();
    operation_->mark_posted(now);
    operation_->mark_ready(now);
  }
  HostEventSource(const HostEventSource&) = delete;
  HostEventSource& operator=(const HostEventSource&) = delete;
  ~HostEventSource() override {
    if (!operation_->ready()) {
      fail(Error{ErrorCode::kBackendFailed, operation_->describe() + " was given up", {}});
    }
  }

  [[nodiscard]] Event event() const override { return Event(operation_); }
  void complete() override {
    Agenda agenda(operation_->home());
    const TimePoint now = operation_->home().run().clock().now();
    operation_->finish(now, now, {}, agenda);
    agenda.run();
  }
  void fail(Error error) override {
    Agenda agenda(operation_->home());
    operation_->fail(std::move(error), agenda);
    agenda.run();
  }

 private:
  std::shared_ptr<SourceOperation> operation_;
};

}  // namespace

HostStream::HostStream(HostProgress& progress, std::string label)
    : progress_(progress), queue_{std::move(label), {}, false} {
  progress_.add(queue_);
}

HostStream::~HostStream() {
  if (const std::shared_ptr<HostOperation> left = progress_.first_unfinished(queue_)) {
    progress_.run().abort(Error{ErrorCode::kBackendFailed,
                                fmt::format("rank {} gave up its stream '{}' before {} was done",
                                            progress_.rank().value(),
                                            queue_.label,
                                            left->describe()),
                                {}});
  }
  progress_.remove(queue_);
}

Event HostStream::record(const Event& after) {
  return post(std::make_shared<MarkOperation>(progress_, after, queue_.label));
}

Event HostStream::post(std::shared_ptr<HostOperation> operation) {
  progress_.post(queue_, operation);
  return Event(std::move(operation));
}

std::unique_ptr<EventSource> make_host_event(HostProgress& progress, std::string label) {
  return std::make_unique<HostEventSource>(progress, std::move(label));
}

}  // namespace stagewright
