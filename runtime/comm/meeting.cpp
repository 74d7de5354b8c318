#include "runtime/comm/meeting.h"

#include <utility>

#include "core/base/check.h"
#include "runtime/comm/meeting_operation.h"

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

bool Meeting::transfer_chunk(const RunClock& clock, Agenda& agenda) {
  const std::size_t chunk = next_.fetch_add(1);
  if (chunk >= chunking_.chunks()) {
    return false;
  }
  do_chunk(contract_, buffers_, chunking_, chunk);
  if (ended_.fetch_add(1) + 1 == chunking_.chunks()) {
    const TimePoint done = clock.now();
    for (const auto& operation : operations_) {
      operation->end_part(started_, done, agenda);
    }
  }
  return true;
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
