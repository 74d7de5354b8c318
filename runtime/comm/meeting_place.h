#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "runtime/comm/chunk.h"
#include "runtime/comm/contract.h"

namespace stagewright {

class HostRun;
class Meeting;
class MeetingOperation;

/// Where the members of a group, or the two ends of a link, find each other: their n-th
/// operations here belong together, in whatever order they arrive.
class MeetingPlace {
 public:
  /// `label` names it in errors: "group 'tensor 0'".
  MeetingPlace(HostRun& run, std::string label, std::vector<RankId> members);

  [[nodiscard]] const std::string& label() const { return label_; }
  [[nodiscard]] const std::vector<RankId>& members() const { return members_; }

  /// Brings a member's part of operation number `sequence`.  The meeting, if this was the
  /// last member; an error if it disagrees with those before it.
  [[nodiscard]] Result<std::shared_ptr<Meeting>> arrive(std::uint64_t sequence,
                                                        std::size_t member,
                                                        const Contract& contract,
                                                        std::shared_ptr<MeetingOperation> operation,
                                                        MemberBuffers buffers);

  /// Which members have not arrived, and what they do instead; empty if all have.
  [[nodiscard]] std::string missing(std::uint64_t sequence);

 private:
  struct Slot {
    std::shared_ptr<Meeting> meeting;  // null before the first member and after the last
    bool complete = false;
  };

  [[nodiscard]] Error disagreement(std::uint64_t sequence,
                                   std::size_t member,
                                   const Contract& contract,
                                   const Meeting& meeting) const;

  HostRun& run_;
  std::string label_;
  std::vector<RankId> members_;

  std::mutex mutex_;
  std::uint64_t first_ = 0;  // number of slots_.front()
  std::deque<Slot> slots_;
};

}  // namespace stagewright
