// The part of NcclRank that waits, and ends the run when it has waited too long or something
// failed.

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "runtime/backend_error.h"
#include "runtime/comm/longest_chain.h"
#include "runtime/comm/nccl_rank.h"

namespace stagewright {

namespace {

/// For all ranks to hear of an error and to end what their devices do.
constexpr Duration kEndLimit = std::chrono::seconds(30);
/// Longest pause between two looks at the device.
constexpr auto kLongestPause = std::chrono::microseconds(200);
/// For a call of NCCL that another thread is inside of to return.
constexpr auto kCallLimit = std::chrono::seconds(2);
/// What NCCL says is often a consequence only (members that disagree, a rank that died): so long
/// rank 0 has to name the cause.
constexpr auto kCauseLimit = std::chrono::milliseconds(500);
/// For kernels of an aborted communicator to end.
constexpr auto kDrainLimit = std::chrono::seconds(10);

}  // namespace

/// What keeps an event from being ready.
struct NcclRank::Obstacle {
  std::string relation;  ///< between the event and the obstacle
  std::shared_ptr<EventState> keeper;
  const NcclEvent* event = nullptr;
};

void NcclRank::listen(std::unique_ptr<ControlLink> link) {
  link_ = std::move(link);
  link_->listen({.aborted = [this](Error reason) { end_run(std::move(reason)); },
                 .activity = [this] { return activity(); },
                 .tick = [this] { watch(); }});
}

void NcclRank::close() {
  link_.reset();
  use_device();
  if (!drain(Clock::now() + kDrainLimit)) {
    return;  // what the device still uses stays
  }
  lanes_.reset();
  for (const cudaStream_t stream : idle_streams_) {
    (void)setup_.cuda->cudaStreamDestroy(stream);
  }
  idle_streams_.clear();
  events_.give_back(std::exchange(time_base_, nullptr));
  last_posted_.reset();
}

void NcclRank::wait(NcclEvent& event) {
  const Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(setup_.timeout);
  auto pause = std::chrono::microseconds(10);
  while (true) {
    const std::uint32_t epoch = bell_.epoch();
    if (event.ready()) {
      return;
    }
    if (const std::optional<Error> reason = failure()) {
      throw BackendError(*reason);
    }
    if (Clock::now() >= deadline) {
      give_up(event);
      continue;
    }
    bell_.sleep_until(epoch, std::min(deadline, Clock::now() + pause));
    pause = std::min(pause * 2, std::chrono::microseconds(kLongestPause));
  }
}

std::optional<NcclRank::Obstacle> NcclRank::obstacle(const NcclEvent& event) {
  const auto* const operation = dynamic_cast<const NcclOperation*>(&event);
  if (operation == nullptr) {
    return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<NcclStream> stream = operation->stream;
  if (stream == nullptr) {
    return std::nullopt;
  }
  settle(*stream);
  if (!stream->unfinished.empty() && stream->unfinished.front().get() != operation) {
    const auto& first = stream->unfinished.front();
    return Obstacle{fmt::format("behind, on stream '{}', ", stream->label()), first, first.get()};
  }
  const auto& awaited = operation->after.state();
  const auto* const other = dynamic_cast<const NcclOperation*>(awaited.get());
  if (other != nullptr && other->stream != nullptr) {
    settle(*other->stream);
  }
  const bool over = other != nullptr ? other->state() == NcclOperation::State::kDone
                                     : awaited == nullptr || awaited->ready();
  if (over) {
    return std::nullopt;
  }
  return Obstacle{"which waits for ", awaited, dynamic_cast<const NcclEvent*>(awaited.get())};
}

void NcclRank::give_up(const NcclEvent& event) {
  std::string text = event.describe();
  Obstacle last{{}, nullptr, &event};
  for (int link = 0; link < kLongestChain; ++link) {
    std::optional<Obstacle> next = obstacle(*last.event);
    if (!next) {
      break;
    }
    text += fmt::format(", {}{}", next->relation, next->event->describe());
    last = *std::move(next);
  }
  ControlMessage message{
      .kind = ControlKind::kGaveUp,
      .text =
          fmt::format("rank {} waited {} for {}", id().value(), to_string(setup_.timeout), text)};
  if (const auto* const operation = dynamic_cast<const NcclOperation*>(last.event)) {
    message.extra = "all ranks have arrived";
    for (const NcclPart& part : operation->parts) {
      message.meetings.push_back({part.lane->place, part.member, part.sequence});
    }
  } else {
    message.extra = "not completed by its owner";
  }
  const Error reason{ErrorCode::kBackendFailed, message.text + ": " + message.extra, {}};
  if (!link_->send(std::move(message)) || !await_end(kEndLimit)) {
    end_run(reason);
  }
}

std::string NcclRank::activity() {
  std::shared_ptr<NcclOperation> last;
  {
    const std::unique_lock lock(mutex_, kCallLimit);
    if (!lock.owns_lock()) {
      return "is inside a call of NCCL that does not return";
    }
    last = last_posted_;
  }
  if (last == nullptr) {
    return "has posted nothing";
  }
  return fmt::format(
      "posted last {}, {}", last->describe(), last->ready() ? "complete" : "incomplete");
}

void NcclRank::watch() {
  if (reported_ || aborted()) {
    return;
  }
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || lanes_ == nullptr) {
    return;
  }
  std::optional<Error> found = device_error_;
  for (std::size_t place = 0; place < lanes_->size() && !found; ++place) {
    NcclLane* const lane = lanes_->at(place);
    if (lane == nullptr || lane->alone()) {
      continue;
    }
    ncclResult_t error = ncclSuccess;
    (void)setup_.nccl->ncclCommGetAsyncError(lane->communicator, &error);
    if (error != ncclSuccess && error != ncclInProgress) {
      found = Error{ErrorCode::kBackendFailed,
                    fmt::format("NCCL reports a failure of {}: {} ({})",
                                lane->label,
                                setup_.nccl->ncclGetErrorString(error),
                                setup_.nccl->ncclGetLastError(lane->communicator)),
                    {}};
    }
  }
  if (found && !failing_since_) {
    failing_since_ = Clock::now();
  }
  if (found && Clock::now() - *failing_since_ >= kCauseLimit) {
    reported_ = true;
    (void)link_->send({.kind = ControlKind::kAbort,
                       .code = found->code,
                       .text = fmt::format("rank {}: {}", id().value(), found->message),
                       .extra = found->where});
  }
}

void NcclRank::abort(Error reason) {
  if (!aborted()) {
    (void)link_->send({.kind = ControlKind::kAbort,
                       .code = reason.code,
                       .text = reason.message,
                       .extra = reason.where});
  }
  if (!await_end(kEndLimit)) {
    end_run(std::move(reason));
  }
}

std::optional<Error> NcclRank::failure() {
  if (!aborted()) {
    return std::nullopt;
  }
  (void)await_end(kEndLimit);
  const std::lock_guard lock(end_mutex_);
  return failure_;
}

bool NcclRank::await_end(Duration limit) {
  std::unique_lock lock(end_mutex_);
  return end_changed_.wait_for(
      lock, std::chrono::duration_cast<Clock::duration>(limit), [this] { return ended_; });
}

void NcclRank::end_run(Error reason) {
  {
    const std::lock_guard lock(end_mutex_);
    if (failure_) {
      return;
    }
    failure_ = std::move(reason);
    aborted_.store(true);
  }
  bell_.ring();
  std::unique_lock lock(mutex_, kCallLimit);
  // Whoever is inside a call of NCCL for so long is there because of what has failed: the abort
  // gets it out.
  if (lanes_ != nullptr) {
    lanes_->abort();
  }
  if (!lock.owns_lock()) {
    lock.lock();
  }
  const bool drained = drain(Clock::now() + kDrainLimit);
  fail_all();
  {
    const std::lock_guard end_lock(end_mutex_);
    if (!drained) {
      failure_->message += fmt::format(
          "; rank {}: the device still works on what was aborted, end this process", id().value());
    }
    ended_ = true;
  }
  end_changed_.notify_all();
  bell_.ring();
}

bool NcclRank::drain(Clock::time_point deadline) {
  if (lanes_ != nullptr && !lanes_->drain(deadline)) {
    return false;
  }
  std::vector<cudaStream_t> devices = idle_streams_;
  for (const auto& stream : streams_) {
    devices.push_back(stream->device());
  }
  for (const cudaStream_t device : devices) {
    while (setup_.cuda->cudaStreamQuery(device) == cudaErrorNotReady) {
      if (Clock::now() >= deadline) {
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(kLongestPause));
    }
  }
  return true;
}

void NcclRank::fail_all() {
  queued_.clear();
  loopbacks_.clear();
  for (const auto& stream : streams_) {
    for (const auto& operation : stream->unfinished) {
      for (const cudaEvent_t event : {operation->begun, operation->ended}) {
        if (event != nullptr) {
          events_.give_back(event);
        }
      }
      operation->fail(*failure_);
      operation->after = Event::none();
      operation->stream = nullptr;
    }
    stream->unfinished.clear();
  }
}

}  // namespace stagewright
