#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/units.h"
#include "runtime/comm/agenda.h"
#include "runtime/comm/chunk.h"
#include "runtime/comm/contract.h"
#include "runtime/comm/run_clock.h"

namespace stagewright {

class HostProgress;
class MeetingOperation;

/// One operation of a group, to which every member brings its buffers.  When all are there
/// the transfer is made in chunks by any threads, and completes every member's operation.
class Meeting {
 public:
  Meeting(const Contract& contract, std::size_t members);

  /// By the meeting place, under its lock.
  void bring(std::size_t member,
             std::shared_ptr<MeetingOperation> operation,
             MemberBuffers buffers);
  [[nodiscard]] bool has(std::size_t member) const { return operations_[member] != nullptr; }
  [[nodiscard]] bool complete() const { return arrived_ == operations_.size(); }
  [[nodiscard]] const Contract& contract() const { return contract_; }
  void mark_started(TimePoint at) { started_ = at; }

  // From here on REQUIRES: complete().

  /// Makes one chunk that nobody has taken; false if there is none.  The thread that makes
  /// the last one to end completes the operations.  Throws what the mover throws.
  [[nodiscard]] bool transfer_chunk(const RunClock& clock, DataMover& mover, Agenda& agenda);
  [[nodiscard]] bool all_taken() const { return next_.load() >= chunking_.chunks(); }
  /// What is moved, of one member.
  [[nodiscard]] Bytes bytes() const;
  /// Whose threads should make the transfer: of a send and receive, the receiver.
  [[nodiscard]] std::vector<HostProgress*> transferring_members() const;

 private:
  /// Of the whole transfer, on one of the threads that make it.
  [[nodiscard]] Duration thread_time_of_each() const;

  Contract contract_;
  Chunking chunking_;
  std::vector<std::shared_ptr<MeetingOperation>> operations_;
  std::vector<MemberBuffers> buffers_;
  std::size_t arrived_ = 0;
  TimePoint started_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> ended_ = 0;
  std::atomic<Duration::rep> thread_time_ = 0;  ///< of all chunks
};

}  // namespace stagewright
