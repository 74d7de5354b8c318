#include "runtime/comm/meeting_place.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/comm/host_progress.h"
#include "runtime/comm/host_run.h"
#include "runtime/comm/meeting.h"
#include "runtime/comm/meeting_operation.h"

namespace stagewright {

MeetingPlace::MeetingPlace(HostRun& run, std::string label, std::vector<RankId> members)
    : run_(run), label_(std::move(label)), members_(std::move(members)) {}

Result<std::shared_ptr<Meeting>> MeetingPlace::arrive(std::uint64_t sequence,
                                                      std::size_t member,
                                                      const Contract& contract,
                                                      std::shared_ptr<MeetingOperation> operation,
                                                      MemberBuffers buffers) {
  const std::lock_guard lock(mutex_);
  SW_CHECK(sequence >= first_, "a member arrives once");
  const std::size_t index = sequence - first_;
  if (slots_.size() <= index) {
    slots_.resize(index + 1);
  }
  Slot& slot = slots_[index];
  if (slot.meeting == nullptr) {
    slot.meeting = std::make_shared<Meeting>(contract, members_.size());
  } else if (slot.meeting->contract() != contract) {
    return tl::unexpected<Error>(disagreement(sequence, member, contract, *slot.meeting));
  }
  slot.meeting->bring(member, std::move(operation), buffers);
  if (!slot.meeting->complete()) {
    return nullptr;
  }
  std::shared_ptr<Meeting> meeting = std::move(slot.meeting);
  meeting->mark_started(run_.clock().now());
  slot.complete = true;
  while (!slots_.empty() && slots_.front().complete) {
    slots_.pop_front();
    ++first_;
  }
  return meeting;
}

Error MeetingPlace::disagreement(std::uint64_t sequence,
                                 std::size_t member,
                                 const Contract& contract,
                                 const Meeting& meeting) const {
  std::size_t other = 0;
  while (!meeting.has(other)) {
    ++other;
  }
  return Error{ErrorCode::kBackendFailed,
               fmt::format("the members of {} disagree on operation #{}: rank {} posted {}, "
                           "rank {} posted {}",
                           label_,
                           sequence + 1,
                           members_[other].value(),
                           describe(meeting.contract()),
                           members_[member].value(),
                           describe(contract)),
               {}};
}

std::string MeetingPlace::missing(std::uint64_t sequence) {
  std::vector<RankId> absent;
  {
    const std::lock_guard lock(mutex_);
    if (sequence < first_ || sequence - first_ >= slots_.size()) {
      return {};
    }
    const std::shared_ptr<Meeting>& meeting = slots_[sequence - first_].meeting;
    for (std::size_t member = 0; meeting != nullptr && member < members_.size(); ++member) {
      if (!meeting->has(member)) {
        absent.push_back(members_[member]);
      }
    }
  }
  std::string text;
  for (const RankId rank : absent) {
    text += fmt::format(
        "{}rank {} ({})", text.empty() ? "" : ", ", rank.value(), run_.progress(rank).activity());
  }
  return text;
}

}  // namespace stagewright
