#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/chunk.h"
#include "runtime/comm/contract.h"
#include "runtime/comm/host_operation.h"

namespace stagewright {

class MeetingPlace;

/// What one rank brings to one meeting.
struct MeetingPart {
  MeetingPlace* place = nullptr;
  std::uint64_t sequence = 0;
  std::size_t member = 0;
  Contract contract;
  MemberBuffers buffers;
};

/// A collective, a send, a receive, or several of the latter together: arrives at all its
/// meetings at once and is done when the last of them is.
class MeetingOperation : public HostOperation,
                         public std::enable_shared_from_this<MeetingOperation> {
 public:
  MeetingOperation(HostProgress& home, Event after, std::vector<MeetingPart> parts);

  void begin(Agenda& agenda) override;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] std::string missing() const override;

  /// One of its meetings has ended.
  void end_part(TimePoint started, TimePoint done, Duration thread_time, Agenda& agenda);

 private:
  std::vector<MeetingPart> parts_;
  std::atomic<std::size_t> remaining_;
  std::atomic<Duration::rep> last_started_ = 0;
  std::atomic<Duration::rep> thread_time_ = 0;
};

}  // namespace stagewright
