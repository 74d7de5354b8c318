#include "runtime/comm/nccl_rank.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/backend_error.h"

namespace stagewright {

namespace {

/// The counter of the queue that a part stands in: its place's operations, or one direction of its
/// link.
[[nodiscard]] const void* queue_of(const NcclPart& part) {
  if (part.contract.kind != CommKind::kTransfer) {
    return &part.lane->posted;
  }
  return part.member == 0 ? &part.lane->sent : &part.lane->received;
}

/// Null for events of the host and for none.
[[nodiscard]] NcclOperation* operation_of(const Event& event) {
  return dynamic_cast<NcclOperation*>(event.state().get());
}

}  // namespace

NcclRank::NcclRank(Setup setup) : setup_(std::move(setup)), events_(setup_.cuda) {
  use_device();
  const CudaLibrary& cuda = *setup_.cuda;
  const std::shared_ptr<NcclStream> stream = add_stream("clock");
  time_base_ = events_.take();
  cuda.check(cuda.cudaEventRecord(time_base_, stream->device()), "cudaEventRecord");
  cuda.check(cuda.cudaEventSynchronize(time_base_), "cudaEventSynchronize");
  time_of_base_ = clock_.now();
  remove_stream(*stream);
}

void NcclRank::use(std::unique_ptr<NcclLanes> lanes) {
  const std::lock_guard lock(mutex_);
  lanes_ = std::move(lanes);
}

void NcclRank::use_device() const {
  setup_.cuda->check(setup_.cuda->cudaSetDevice(setup_.device), "cudaSetDevice");
}

std::shared_ptr<NcclStream> NcclRank::add_stream(std::string label) {
  use_device();
  const std::lock_guard lock(mutex_);
  cudaStream_t device = nullptr;
  if (idle_streams_.empty()) {
    setup_.cuda->check(setup_.cuda->cudaStreamCreateWithFlags(&device, cudaStreamNonBlocking),
                       "cudaStreamCreate");
  } else {
    device = idle_streams_.back();
    idle_streams_.pop_back();
  }
  streams_.push_back(std::make_shared<NcclStream>(std::move(label), device));
  return streams_.back();
}

void NcclRank::remove_stream(NcclStream& stream) {
  const std::lock_guard lock(mutex_);
  idle_streams_.push_back(stream.device());
  std::erase_if(streams_, [&stream](const auto& known) { return known.get() == &stream; });
}

std::shared_ptr<NcclOperation> NcclRank::first_unfinished(NcclStream& stream) {
  const std::lock_guard lock(mutex_);
  settle(stream);
  return stream.unfinished.empty() ? nullptr : stream.unfinished.front();
}

bool NcclRank::begin_after(NcclStream& stream, const Event& event) {
  if (const std::optional<Error> failed = event.state() == nullptr ? std::nullopt : failure()) {
    throw BackendError(*failed);
  }
  const NcclOperation* const awaited = operation_of(event);
  if (awaited == nullptr) {
    return event.ready();
  }
  use_device();
  const std::lock_guard lock(mutex_);
  switch (awaited->state()) {
    case NcclOperation::State::kQueued:
    case NcclOperation::State::kStaged:
      return false;
    case NcclOperation::State::kIssued:
      setup_.cuda->check(setup_.cuda->cudaStreamWaitEvent(stream.device(), awaited->ended, 0),
                         "cudaStreamWaitEvent");
      return true;
    case NcclOperation::State::kDone:
      return true;
    case NcclOperation::State::kFailed:
      throw BackendError(*event.failure());
  }
  return false;
}

void NcclRank::post(const std::shared_ptr<NcclOperation>& operation) {
  News news;
  if (!aborted()) {
    use_device();
    const std::lock_guard lock(mutex_);
    if (!aborted()) {
      operation->stamps.posted = clock_.now();
      operation->stream->unfinished.push_back(operation);
      queued_.push_back(operation);
      last_posted_ = operation;
      pump_locked(news);
    }
  }
  if (const std::optional<Error> reason = failure()) {
    throw BackendError(*reason);
  }
  tell(std::move(news));
}

void NcclRank::pump() {
  News news;
  if (!aborted()) {
    use_device();
    const std::lock_guard lock(mutex_);
    pump_locked(news);
  }
  bell_.ring();
  tell(std::move(news));
}

void NcclRank::tell(News news) {
  for (ControlMessage& arrival : news.arrivals) {
    (void)link_->send(std::move(arrival));
  }
  if (news.problem) {
    abort(*std::move(news.problem));
  }
}

void NcclRank::pump_locked(News& news) {
  try {
    while (!aborted() && issue_next(news)) {
    }
  } catch (const BackendError& error) {
    news.problem = Error{error.error().code,
                         fmt::format("rank {}: {}", id().value(), error.error().message),
                         error.error().where};
  }
}

bool NcclRank::issue_next(News& news) {
  std::set<const void*> held;  // streams and queues in which an operation has to wait
  for (auto next = queued_.begin(); next != queued_.end(); ++next) {
    const std::shared_ptr<NcclOperation> operation = *next;
    const auto is_held = [&](const NcclPart& part) { return held.contains(queue_of(part)); };
    if (!held.contains(operation->stream.get()) &&
        std::none_of(operation->parts.begin(), operation->parts.end(), is_held) &&
        may_issue(*operation)) {
      queued_.erase(next);
      issue(operation, news);
      return true;
    }
    held.insert(operation->stream.get());
    for (const NcclPart& part : operation->parts) {
      held.insert(queue_of(part));
    }
  }
  return false;
}

bool NcclRank::may_issue(const NcclOperation& operation) const {
  // What stands before it on its stream may be staged.
  for (const auto& earlier : operation.stream->unfinished) {
    if (earlier.get() == &operation) {
      break;
    }
    if (earlier->state() == NcclOperation::State::kStaged) {
      return false;
    }
  }
  const Event& after = operation.after;
  if (after.state() == nullptr) {
    return true;
  }
  const auto* const awaited = dynamic_cast<const NcclEvent*>(after.state().get());
  SW_CHECK(awaited != nullptr && &awaited->rank() == this,
           "an operation waits for an event of its own rank");
  if (const std::optional<Error> failure = after.failure()) {
    throw BackendError(Error{failure->code,
                             fmt::format("{} cannot begin, what it waits for failed: {}",
                                         operation.describe(),
                                         failure->message),
                             failure->where});
  }
  const NcclOperation* const on_device = operation_of(after);
  if (on_device == nullptr) {
    return after.ready();
  }
  return on_device->state() == NcclOperation::State::kIssued ||
         on_device->state() == NcclOperation::State::kDone;
}

void NcclRank::issue(const std::shared_ptr<NcclOperation>& operation, News& news) {
  const CudaLibrary& cuda = *setup_.cuda;
  const cudaStream_t stream = operation->stream->device();
  const NcclOperation* const awaited = operation_of(operation->after);
  if (awaited != nullptr && awaited->state() == NcclOperation::State::kIssued) {
    cuda.check(cuda.cudaStreamWaitEvent(stream, awaited->ended, 0), "cudaStreamWaitEvent");
  }
  operation->begun = events_.take();
  cuda.check(cuda.cudaEventRecord(operation->begun, stream), "cudaEventRecord");
  for (const NcclPart& part : operation->parts) {
    news.arrivals.push_back({.kind = ControlKind::kArrived,
                             .meetings = {{part.lane->place, part.member, part.sequence}},
                             .text = describe(part.contract)});
  }
  call(*operation);
  for (const NcclPart& part : operation->parts) {
    if (part.lane->alone() && part.contract.kind == CommKind::kTransfer) {
      ++operation->unmatched;
    }
  }
  if (operation->unmatched == 0) {
    return end_issue(*operation);
  }
  operation->set_state(NcclOperation::State::kStaged);
  for (const NcclPart& part : operation->parts) {
    if (part.lane->alone() && part.contract.kind == CommKind::kTransfer) {
      meet_itself(operation, part);
    }
  }
}

void NcclRank::call(NcclOperation& operation) {
  const CudaLibrary& cuda = *setup_.cuda;
  const NcclLibrary& nccl = *setup_.nccl;
  const cudaStream_t stream = operation.stream->device();
  std::vector<NcclLane*> used;
  for (const NcclPart& part : operation.parts) {
    if (part.lane->alone()) {
      copy_alone(part, stream);
    } else {
      used.push_back(part.lane);
      cuda.check(cuda.cudaStreamWaitEvent(part.lane->stream, operation.begun, 0),
                 "cudaStreamWaitEvent");
    }
  }
  if (used.empty()) {
    return;
  }
  nccl.check(nccl.ncclGroupStart(), "ncclGroupStart", nullptr);
  for (const NcclPart& part : operation.parts) {
    if (!part.lane->alone()) {
      call_nccl(nccl, part);
    }
  }
  nccl.check(nccl.ncclGroupEnd(), "ncclGroupEnd", used.front()->communicator);
  for (NcclLane* const lane : used) {
    cuda.check(cuda.cudaEventRecord(lane->ended, lane->stream), "cudaEventRecord");
    cuda.check(cuda.cudaStreamWaitEvent(stream, lane->ended, 0), "cudaStreamWaitEvent");
  }
}

void NcclRank::copy_alone(const NcclPart& part, cudaStream_t stream) {
  const Contract& contract = part.contract;
  if (contract.kind == CommKind::kTransfer || contract.count == 0 || part.in == part.out) {
    return;
  }
  setup_.cuda->check(setup_.cuda->cudaMemcpyAsync(part.out,
                                                  part.in,
                                                  contract.count * size_of(contract.type),
                                                  cudaMemcpyDeviceToDevice,
                                                  stream),
                     describe(part));
}

void NcclRank::end_issue(NcclOperation& operation) {
  operation.ended = events_.take();
  setup_.cuda->check(setup_.cuda->cudaEventRecord(operation.ended, operation.stream->device()),
                     "cudaEventRecord");
  operation.set_state(NcclOperation::State::kIssued);
}

void NcclRank::meet_itself(const std::shared_ptr<NcclOperation>& operation, const NcclPart& part) {
  Loopback& loopback = loopbacks_[part.lane];
  (part.member == 0 ? loopback.sends : loopback.receives).push_back({operation, part});
  if (loopback.sends.empty() || loopback.receives.empty()) {
    return;
  }
  const OpenSide send = std::move(loopback.sends.front());
  const OpenSide receive = std::move(loopback.receives.front());
  loopback.sends.pop_front();
  loopback.receives.pop_front();
  if (send.part.contract == receive.part.contract) {  // else rank 0 will say so
    copy_to_itself(send, receive);
  }
}

void NcclRank::copy_to_itself(const OpenSide& send, const OpenSide& receive) {
  const CudaLibrary& cuda = *setup_.cuda;
  const NcclLane& lane = *send.part.lane;
  const std::size_t bytes = send.part.contract.count * size_of(send.part.contract.type);
  for (const OpenSide* side : {&send, &receive}) {
    cuda.check(cuda.cudaStreamWaitEvent(lane.stream, side->operation->begun, 0),
               "cudaStreamWaitEvent");
  }
  if (bytes > 0) {
    cuda.check(cuda.cudaMemcpyAsync(
                   receive.part.out, send.part.in, bytes, cudaMemcpyDeviceToDevice, lane.stream),
               describe(send.part));
  }
  cuda.check(cuda.cudaEventRecord(lane.ended, lane.stream), "cudaEventRecord");
  match(*send.operation);
  match(*receive.operation);
}

void NcclRank::match(NcclOperation& operation) {
  --operation.unmatched;
  if (operation.unmatched > 0) {
    return;
  }
  const CudaLibrary& cuda = *setup_.cuda;
  for (const NcclPart& part : operation.parts) {
    if (part.lane->alone() && part.contract.kind == CommKind::kTransfer) {
      cuda.check(cuda.cudaStreamWaitEvent(operation.stream->device(), part.lane->ended, 0),
                 "cudaStreamWaitEvent");
    }
  }
  end_issue(operation);
}

void NcclRank::look_at(const NcclOperation& operation) {
  const std::lock_guard lock(mutex_);
  if (const std::shared_ptr<NcclStream> stream = operation.stream) {
    settle(*stream);
  }
}

void NcclRank::settle(NcclStream& stream) {
  while (!stream.unfinished.empty()) {
    const std::shared_ptr<NcclOperation> first = stream.unfinished.front();
    if (first->state() != NcclOperation::State::kIssued || device_error_) {
      return;
    }
    const cudaError_t status = setup_.cuda->cudaEventQuery(first->ended);
    if (status == cudaErrorNotReady) {
      return;
    }
    try {
      setup_.cuda->check(status, first->describe());
      stamp(*first, stream);
    } catch (const BackendError& error) {
      device_error_ = error.error();  // watch() tells it
      return;
    }
    stream.unfinished.pop_front();
    stream.last_done = first->stamps.done;
    events_.give_back(first->begun);
    if (time_of_base_ + std::chrono::seconds(4) < first->stamps.done) {
      // A float of milliseconds soon tells no microseconds apart.
      std::swap(time_base_, first->ended);
      time_of_base_ = first->stamps.done;
    }
    events_.give_back(first->ended);
    first->after = Event::none();
    first->stream = nullptr;
    first->set_state(NcclOperation::State::kDone);
  }
}

void NcclRank::stamp(NcclOperation& operation, NcclStream& stream) {
  CommTimes& times = operation.stamps;
  // The clock of the device and that of the host agree to microseconds only; what is certain of
  // their order is kept.
  times.ready = std::max({times.posted, stream.last_done, time_of(operation.begun)});
  if (const NcclOperation* const awaited = operation_of(operation.after)) {
    const bool done = awaited->state() == NcclOperation::State::kDone;
    times.ready = std::max(times.ready, done ? awaited->stamps.done : time_of(awaited->ended));
  } else {
    times.ready = std::max(times.ready, operation.after.times().done);
  }
  times.started = times.ready;  // when the last peer came is not known
  times.done = std::max(times.ready, time_of(operation.ended));
}

TimePoint NcclRank::time_of(cudaEvent_t event) const {
  float milliseconds = 0;
  setup_.cuda->check(setup_.cuda->cudaEventElapsedTime(&milliseconds, time_base_, event),
                     "cudaEventElapsedTime");
  constexpr double kPicosecondsPerMillisecond = 1e9;
  return time_of_base_ +
         Duration(static_cast<Duration::rep>(milliseconds * kPicosecondsPerMillisecond));
}

}  // namespace stagewright
