// A stand-in for NCCL over the stand-in of the CUDA runtime; the ranks are threads of one process,
// or processes of one machine where STANDIN_NCCL_FOLDER names a folder for what they say to each
// other.  Calls are put on their stream; those of a group begin together.

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nccl_process_team.h"
#include "nccl_team.h"
#include "standins.h"

namespace {

using standin::CallKind;
using standin::NcclCall;
using standin::NcclMember;
using standin::NcclTeam;

struct Fault {
  StandinFault kind = kStandinNoFault;
  int rank = 0;
  int operation = 0;
  std::string name;  ///< of the calls that count; "": all that go on a stream
};

/// What a member of a communicator has to do on one stream, all of it begun at once.
struct Batch {
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<std::pair<std::uint64_t, NcclCall>> collectives;
  std::vector<NcclCall> messages;
  StandinFault fault = kStandinNoFault;
};

struct Swap {
  int rank = -1;
  int call = 0;
  std::unique_ptr<Batch> held;
};

struct Library {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<NcclTeam>> teams;  // by unique id
  std::atomic<unsigned> ids = 0;
  Fault fault;
  Swap swap;
};

[[nodiscard]] Library& library() {
  static auto* const made = new Library;  // streams may outlive static objects
  return *made;
}

struct Group {
  int depth = 0;
  std::vector<Batch> batches;
};
thread_local Group group;

void run_batch(void* argument) {
  auto* const batch = static_cast<Batch*>(argument);
  NcclMember& member = batch->communicator->member;
  const std::shared_ptr<NcclTeam> team = member.team;
  if (batch->fault != kStandinNoFault) {
    if (batch->fault == kStandinAsyncError) {
      member.fail(ncclSystemError, "the link went down (injected)");
    }
    team->hang(member);
    return;
  }
  for (const auto& [sequence, call] : batch->collectives) {
    team->collective(member, sequence, call);
  }
  if (!batch->messages.empty()) {
    team->messages(member, batch->messages);
  }
}

void touch_buffers(const Batch& batch, const NcclCall& call) {
  const NcclMember& member = batch.communicator->member;
  const std::size_t bytes = call.count * standin::size_of(call.type);
  const std::size_t all = bytes * static_cast<std::size_t>(member.team->size());
  const std::string what = describe(call);
  const bool is_broadcast = call.kind == CallKind::kBroadcast;
  const bool is_root = call.peer == member.rank;
  if (call.kind != CallKind::kReceive && (!is_broadcast || is_root)) {
    const bool scatters = call.kind == CallKind::kReduceScatter;
    standin_touch(batch.stream, call.in, scatters ? all : bytes, false, what.c_str());
  }
  if (call.kind != CallKind::kSend && (!is_broadcast || !is_root)) {
    const bool gathers = call.kind == CallKind::kAllGather;
    standin_touch(batch.stream, call.out, gathers ? all : bytes, true, what.c_str());
  }
}

void enqueue(Batch&& batch) {
  const cudaStream_t stream = batch.stream;
  standin_begin(stream);
  for (const auto& [sequence, call] : batch.collectives) {
    touch_buffers(batch, call);
  }
  for (const NcclCall& call : batch.messages) {
    touch_buffers(batch, call);
  }
  standin_enqueue(stream, run_batch, new Batch(std::move(batch)), [](void* argument) {
    delete static_cast<Batch*>(argument);
  });
}

/// Whether this batch is the one that changes places with the next.
[[nodiscard]] bool is_swapped(const Batch& batch) {
  const std::lock_guard lock(library().mutex);
  Swap& swap = library().swap;
  return swap.rank == batch.communicator->member.world_rank && swap.call-- == 0;
}

/// The batch that waits for this one, if there is any.
[[nodiscard]] std::unique_ptr<Batch> held_behind(const Batch& batch) {
  const std::lock_guard lock(library().mutex);
  Swap& swap = library().swap;
  return swap.rank == batch.communicator->member.world_rank ? std::move(swap.held) : nullptr;
}

ncclResult_t enqueue_batches() {
  for (Batch& batch : group.batches) {
    if (is_swapped(batch)) {
      const std::lock_guard lock(library().mutex);
      library().swap.held = std::make_unique<Batch>(std::move(batch));
      continue;
    }
    std::unique_ptr<Batch> held = held_behind(batch);
    enqueue(std::move(batch));
    if (held != nullptr) {
      enqueue(std::move(*held));
    }
  }
  group.batches.clear();
  return ncclSuccess;
}

[[nodiscard]] Batch& batch_of(ncclComm_t communicator, cudaStream_t stream) {
  for (Batch& batch : group.batches) {
    if (batch.communicator == communicator && batch.stream == stream) {
      return batch;
    }
  }
  Batch& made = group.batches.emplace_back();
  made.communicator = communicator;
  made.stream = stream;
  return made;
}

/// Of a call on a stream, or of one that makes a communicator.
[[nodiscard]] StandinFault fault_of(int rank, const std::string& name, bool on_stream) {
  const std::lock_guard lock(library().mutex);
  Fault& fault = library().fault;
  const bool counts = fault.name.empty() ? on_stream : fault.name == name;
  if (fault.kind == kStandinNoFault || rank != fault.rank || !counts || fault.operation-- > 0) {
    return kStandinNoFault;
  }
  return std::exchange(fault.kind, kStandinNoFault);
}

[[nodiscard]] bool buffers_fit(const NcclCall& call, const NcclTeam& team) {
  const std::size_t bytes = call.count * standin::size_of(call.type);
  const std::size_t all = bytes * static_cast<std::size_t>(team.size());
  const bool reads = call.kind != CallKind::kReceive;
  const bool writes = call.kind != CallKind::kSend;
  const std::string what = describe(call);
  return (!reads || standin_may_touch(call.in,
                                      call.kind == CallKind::kReduceScatter ? all : bytes,
                                      ("the source of " + what).c_str())) &&
         (!writes || standin_may_touch(call.out,
                                       call.kind == CallKind::kAllGather ? all : bytes,
                                       ("the destination of " + what).c_str()));
}

ncclResult_t call(const NcclCall& made, ncclComm_t communicator, cudaStream_t stream) {
  if (communicator == nullptr || stream == nullptr) {
    return ncclInvalidArgument;
  }
  NcclMember& member = communicator->member;
  if (member.aborted || made.peer < 0 || made.peer >= member.team->size()) {
    return ncclInvalidUsage;
  }
  if (!buffers_fit(made, *member.team)) {
    member.fail(ncclInvalidArgument, "see the problems of the stand-in");
    return ncclInvalidArgument;
  }
  Batch& batch = batch_of(communicator, stream);
  if (made.kind == CallKind::kSend || made.kind == CallKind::kReceive) {
    batch.messages.push_back(made);
  } else {
    batch.collectives.emplace_back(member.next_collective++, made);
  }
  if (const StandinFault fault = fault_of(member.rank, standin::name_of(made.kind), true);
      fault != kStandinNoFault) {
    batch.fault = fault;
  }
  return group.depth > 0 ? ncclSuccess : enqueue_batches();
}

}  // namespace

extern "C" {

void standin_nccl_fault(StandinFault fault, int rank, int operation) {
  const std::lock_guard lock(library().mutex);
  library().fault = {fault, rank, operation, {}};
}

void standin_nccl_fault_in(const char* name, StandinFault fault, int rank, int operation) {
  const std::lock_guard lock(library().mutex);
  library().fault = {fault, rank, operation, name};
}

void standin_nccl_swap(int rank, int call) {
  const std::lock_guard lock(library().mutex);
  library().swap = {rank, call, nullptr};
}

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  *id = {};
  const std::string text = fmt::format("stand-in.{}.{}.", ::getpid(), library().ids++);
  std::memcpy(id->internal, text.c_str(), text.size());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(
    ncclComm_t* communicator, int size, ncclUniqueId id, int rank, ncclConfig_t* /*config*/) {
  if (rank < 0 || rank >= size) {
    return ncclInvalidArgument;
  }
  if (fault_of(rank, "ncclCommInitRank", false) != kStandinNoFault) {
    return ncclSystemError;
  }
  std::shared_ptr<NcclTeam> team;
  {
    const std::lock_guard lock(library().mutex);
    auto& known = library().teams[id.internal];
    if (known == nullptr) {
      const char* const folder = std::getenv("STANDIN_NCCL_FOLDER");
      known = folder == nullptr ? std::make_shared<NcclTeam>(size)
                                : std::make_shared<standin::NcclProcessTeam>(
                                      size, fmt::format("{}/{}", folder, id.internal));
    }
    team = known;
  }
  int device = 0;
  cudaGetDevice(&device);
  if (!team->join(rank, device)) {
    standin_problem(fmt::format("rank {}: another rank has device {}", rank, device).c_str());
    return ncclInvalidUsage;
  }
  team->await_all();
  *communicator = new ncclComm;
  (*communicator)->member.team = team;
  (*communicator)->member.rank = rank;
  (*communicator)->member.world_rank = rank;
  (*communicator)->member.device = device;
  return ncclSuccess;
}

ncclResult_t ncclCommSplit(
    ncclComm_t parent, int color, int key, ncclComm_t* made, ncclConfig_t* /*config*/) {
  NcclMember& member = parent->member;
  if (fault_of(member.rank, "ncclCommSplit", false) != kStandinNoFault) {
    return ncclSystemError;
  }
  const auto [team, rank] = member.team->split(member, member.next_split++, color, key);
  *made = nullptr;
  if (team != nullptr) {
    *made = new ncclComm;
    (*made)->member.team = team;
    (*made)->member.rank = rank;
    (*made)->member.world_rank = member.world_rank;
    (*made)->member.device = member.device;
  }
  return member.aborted ? ncclInvalidUsage : ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

// The handle stays: operations on streams still look at it.
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  communicator->member.team->abort(communicator->member);
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  const std::lock_guard lock(communicator->member.mutex);
  *error = communicator->member.error;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    default:
      return "unknown error";
  }
}

const char* ncclGetLastError(ncclComm_t communicator) {
  if (communicator == nullptr) {
    return "";
  }
  thread_local std::string text;
  const std::lock_guard lock(communicator->member.mutex);
  text = communicator->member.error_text;
  return text.c_str();
}

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  return --group.depth > 0 ? ncclSuccess : enqueue_batches();
}

ncclResult_t ncclAllReduce(const void* in,
                           void* out,
                           size_t count,
                           ncclDataType_t type,
                           ncclRedOp_t reduction,
                           ncclComm_t communicator,
                           cudaStream_t stream) {
  return call({CallKind::kAllReduce, in, out, count, type, reduction, 0}, communicator, stream);
}

ncclResult_t ncclReduceScatter(const void* in,
                               void* out,
                               size_t count,
                               ncclDataType_t type,
                               ncclRedOp_t reduction,
                               ncclComm_t communicator,
                               cudaStream_t stream) {
  return call({CallKind::kReduceScatter, in, out, count, type, reduction, 0}, communicator, stream);
}

ncclResult_t ncclAllGather(const void* in,
                           void* out,
                           size_t count,
                           ncclDataType_t type,
                           ncclComm_t communicator,
                           cudaStream_t stream) {
  return call({CallKind::kAllGather, in, out, count, type, ncclSum, 0}, communicator, stream);
}

ncclResult_t ncclBroadcast(const void* in,
                           void* out,
                           size_t count,
                           ncclDataType_t type,
                           int root,
                           ncclComm_t communicator,
                           cudaStream_t stream) {
  return call({CallKind::kBroadcast, in, out, count, type, ncclSum, root}, communicator, stream);
}

ncclResult_t ncclSend(const void* in,
                      size_t count,
                      ncclDataType_t type,
                      int peer,
                      ncclComm_t communicator,
                      cudaStream_t stream) {
  return call({CallKind::kSend, in, nullptr, count, type, ncclSum, peer}, communicator, stream);
}

ncclResult_t ncclRecv(void* out,
                      size_t count,
                      ncclDataType_t type,
                      int peer,
                      ncclComm_t communicator,
                      cudaStream_t stream) {
  return call({CallKind::kReceive, nullptr, out, count, type, ncclSum, peer}, communicator, stream);
}
}
