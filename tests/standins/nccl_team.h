#pragma once

#include <nccl.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace standin {

enum class CallKind {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kSend,
  kReceive
};

/// One call of a communicator.
struct NcclCall {
  CallKind kind = CallKind::kAllReduce;
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;  ///< as the call says it
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t reduction = ncclSum;
  int peer = 0;  ///< or the root
};

[[nodiscard]] std::size_t size_of(ncclDataType_t type);
/// "ncclAllReduce of 8 elements of type 7"
/// "ncclAllReduce".
[[nodiscard]] const char* name_of(CallKind kind);
[[nodiscard]] std::string describe(const NcclCall& call);

class NcclTeam;

/// One rank of a communicator.
struct NcclMember {
  std::shared_ptr<NcclTeam> team;
  int rank = 0;
  int world_rank = 0;  ///< in the communicator from which this one was split
  int device = 0;
  std::uint64_t next_collective = 0;
  std::uint64_t next_split = 0;
  int started = 0;  ///< operations, for injected faults
  std::atomic<bool> aborted = false;
  std::mutex mutex;
  ncclResult_t error = ncclSuccess;  ///< asynchronous
  std::string error_text;

  void fail(ncclResult_t code, const std::string& text);
};

/// The ranks of one communicator.  An operation holds its stream until all its members are there,
/// as on a device; what would hang there or give rubbish (members that disagree) hangs here, too,
/// and sets the asynchronous error.
class NcclTeam {
 public:
  explicit NcclTeam(int size) : size_(size) {}
  NcclTeam(const NcclTeam&) = delete;
  NcclTeam& operator=(const NcclTeam&) = delete;
  virtual ~NcclTeam() = default;

  [[nodiscard]] int size() const { return size_; }

  /// False where another rank of this team has the device.
  [[nodiscard]] virtual bool join(int rank, int device);
  /// Returns when all ranks have joined.
  virtual void await_all();

  /// They return when the operation is done or the member aborted.
  virtual void collective(NcclMember& member, std::uint64_t sequence, const NcclCall& call);
  virtual void messages(NcclMember& member, const std::vector<NcclCall>& calls);
  /// Until the member aborts.
  virtual void hang(NcclMember& member);

  /// On return nobody touches this member's buffers.
  virtual void abort(NcclMember& member);

  /// The team of `color` and this member's rank in it, ordered by key; null for no color.
  [[nodiscard]] virtual std::pair<std::shared_ptr<NcclTeam>, int> split(NcclMember& member,
                                                                        std::uint64_t sequence,
                                                                        int color,
                                                                        int key);

 protected:
  struct Arrival {
    NcclMember* member = nullptr;
    NcclCall call;
  };
  struct Meeting {
    std::vector<Arrival> arrivals;  // by rank
    int arrived = 0;
    int left = 0;
    bool done = false;
    bool disagreed = false;
  };
  void perform(const Meeting& meeting) const;
  void note_disagreement(Meeting& meeting, const Arrival& late);

 private:
  struct Message {
    const NcclCall* call = nullptr;
    NcclMember* sender = nullptr;
    bool taken = false;
  };
  struct Split {
    std::map<int, std::pair<int, int>> colors;  // rank: color, key
    std::map<int, std::shared_ptr<NcclTeam>> teams;
    int left = 0;
  };

  [[nodiscard]] bool take(NcclMember& member,
                          const NcclCall& call,
                          std::unique_lock<std::mutex>& lock);

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, int> devices_;  // of ranks that have joined
  std::map<std::uint64_t, Meeting> meetings_;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Message>>> posted_;  // from, to
  std::map<std::uint64_t, Split> splits_;
};

}  // namespace standin

/// The handle of NCCL.
struct ncclComm {
  standin::NcclMember member;
};
