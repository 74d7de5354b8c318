#include "runtime/comm/meeting.h"

#include <utility>

#include "core/base/check.h"
#include "core/base/divide_up.h"
#include "runtime/comm/meeting_operation.h"
#include "runtime/comm/thread_time.h"

namespace stagewright {

Meeting::Meeting(const Contract& contract, std::size_t members)
    : contract_(contract),
      chunking_(cut(contract, members)),
      operations_(members),
      buffers_(members) {}

void Meeting::bring(std::size_t member,
                    std::shared_ptr<MeetingOperation> operation,
                    MemberBuffers buffers) {
  SW_CHECK(!has(member), "a member arrives once");
  operations_[member] = std::move(operation);
  buffers_[member] = buffers;
  ++arrived_;
}

bool Meeting::transfer_chunk(const RunClock& clock, DataMover& mover, Agenda& agenda) {
  const std::size_t chunk = next_.fetch_add(1);
  if (chunk >= chunking_.chunks()) {
    return false;
  }
  const Duration before = thread_time();
  do_chunk(mover, contract_, buffers_, chunking_, chunk);
  thread_time_.fetch_add((thread_time() - before).count());
  if (ended_.fetch_add(1) + 1 == chunking_.chunks()) {
    const TimePoint done = clock.now();
    for (const auto& operation : operations_) {
      operation->end_part(started_, done, thread_time_of_each(), agenda);
    }
  }
  return true;
}

Duration Meeting::thread_time_of_each() const {
  const auto chunks = static_cast<std::int64_t>(chunking_.chunks());
  const auto threads = static_cast<std::int64_t>(transferring_members().size());
  // Whole chunks: of three on two threads, one of them makes two.
  return Duration(thread_time_.load()) * divide_up(chunks, threads) / chunks;
}

Bytes Meeting::bytes() const {
  return Bytes(
      static_cast<std::int64_t>(contract_.count * chunking_.parts * size_of(contract_.type)));
}

std::vector<HostProgress*> Meeting::transferring_members() const {
  if (contract_.kind == CommKind::kTransfer) {
    return {&operations_[1]->home()};
  }
  std::vector<HostProgress*> members;
  members.reserve(operations_.size());
  for (const auto& operation : operations_) {
    members.push_back(&operation->home());
  }
  return members;
}

}  // namespace stagewright
