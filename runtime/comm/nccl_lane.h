#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "runtime/comm/contract.h"

namespace stagewright {

/// A place of the world as one rank sees it: its communicator, and the stream of the device on
/// which all its operations go, in the order in which they were posted.  Every place has a stream
/// of its own, so that none holds up another.
struct NcclLane {
  std::uint32_t place = 0;  ///< number in the world
  std::string label;
  std::vector<RankId> members;
  std::uint32_t member = 0;           ///< this rank's index there; of a link to itself: 0
  ncclComm_t communicator = nullptr;  ///< null where this rank is the only member
  cudaStream_t stream = nullptr;
  cudaEvent_t ended = nullptr;  ///< recorded after every operation
  /// Of the device, so that operations that move nothing still wait for their peers: one element.
  void* scratch = nullptr;
  std::uint64_t sent = 0;      ///< of a link: messages posted
  std::uint64_t received = 0;  ///< the same
  std::uint64_t posted = 0;    ///< of a group: operations posted

  [[nodiscard]] bool alone() const { return communicator == nullptr; }
};

/// What one rank brings to one operation of a place.
struct NcclPart {
  NcclLane* lane = nullptr;
  std::uint64_t sequence = 0;
  std::uint32_t member = 0;  ///< of a transfer: 0 sends, 1 receives
  Contract contract;
  const void* in = nullptr;
  void* out = nullptr;
};

/// "all_reduce of 4 float32 (sum) (#1 of group 'all')"
[[nodiscard]] std::string describe(const NcclPart& part);

/// Puts the part on its lane's stream, after the device's group call has begun: what the group's
/// other parts do begins with it.  Throws BackendError.
void call_nccl(const struct NcclLibrary& nccl, const NcclPart& part);

}  // namespace stagewright
