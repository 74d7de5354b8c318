#include "runtime/comm/meeting_operation.h"

#include <utility>

#include <fmt/format.h>

#include "runtime/comm/host_progress.h"
#include "runtime/comm/host_run.h"
#include "runtime/comm/meeting_place.h"

namespace stagewright {

namespace {

[[nodiscard]] std::string describe_part(const MeetingPart& part) {
  const std::string& place = part.place->label();
  if (part.contract.kind == CommKind::kTransfer) {
    return fmt::format("{} #{} of {} {}",
                       part.member == 0 ? "send" : "recv",
                       part.sequence + 1,
                       describe(part.contract),
                       place);
  }
  return fmt::format("{} (#{} of {})", describe(part.contract), part.sequence + 1, place);
}

}  // namespace

MeetingOperation::MeetingOperation(HostProgress& home, Event after, std::vector<MeetingPart> parts)
    : HostOperation(home, std::move(after)), parts_(std::move(parts)), remaining_(parts_.size()) {}

void MeetingOperation::begin(Agenda& agenda) {
  if (parts_.empty()) {
    const TimePoint now = home().run().clock().now();
    finish(now, now, {}, agenda);
    return;
  }
  for (const MeetingPart& part : parts_) {
    Result<std::shared_ptr<Meeting>> met = part.place->arrive(
        part.sequence, part.member, part.contract, shared_from_this(), part.buffers);
    if (!met) {
      agenda.abort_later(std::move(met).error());
      return;
    }
    if (*met != nullptr) {
      agenda.transfer_later(*std::move(met));
    }
  }
}

std::string MeetingOperation::describe() const {
  if (parts_.size() == 1) {
    return describe_part(parts_.front());
  }
  std::string text;
  for (const MeetingPart& part : parts_) {
    text += (text.empty() ? "" : ", ") + describe_part(part);
  }
  return fmt::format("exchange [{}]", text);
}

std::string MeetingOperation::missing() const {
  std::string text;
  for (const MeetingPart& part : parts_) {
    const std::string absent = part.place->missing(part.sequence);
    if (!absent.empty()) {
      text += (text.empty() ? "" : ", ") + absent;
    }
  }
  return text.empty() ? "all ranks have arrived" : "not arrived: " + text;
}

void MeetingOperation::end_part(TimePoint started,
                                TimePoint done,
                                Duration thread_time,
                                Agenda& agenda) {
  thread_time_.fetch_add(thread_time.count());
  const Duration::rep mine = started.time_since_epoch().count();
  Duration::rep last = last_started_.load();
  while (last < mine && !last_started_.compare_exchange_weak(last, mine)) {
  }
  if (remaining_.fetch_sub(1) == 1) {
    finish(TimePoint(Duration(last_started_.load())), done, Duration(thread_time_.load()), agenda);
  }
}

}  // namespace stagewright
