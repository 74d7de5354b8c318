#include "runtime/comm/nccl_lane.h"

#include <fmt/format.h>

#include "runtime/libraries/nccl_library.h"

namespace stagewright {

namespace {

[[nodiscard]] ncclDataType_t nccl_type(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return ncclFloat32;
    case ElementType::kBFloat16:
      return ncclBfloat16;
    case ElementType::kFloat16:
      return ncclFloat16;
    case ElementType::kInt32:
      return ncclInt32;
    case ElementType::kByte:
      return ncclUint8;
  }
  return ncclUint8;
}

[[nodiscard]] ncclRedOp_t nccl_reduction(Reduction reduction) {
  return reduction == Reduction::kMax ? ncclMax : ncclSum;
}

[[nodiscard]] ncclResult_t call_transfer(const NcclLibrary& nccl, const NcclPart& part) {
  const NcclLane& lane = *part.lane;
  const Contract& contract = part.contract;
  // An empty message, too, has to wait for its other side.
  const bool empty = contract.count == 0;
  const std::size_t count = empty ? 1 : contract.count;
  const int peer = part.member == 0 ? 1 : 0;
  return part.member == 0 ? nccl.ncclSend(empty ? lane.scratch : part.in,
                                          count,
                                          nccl_type(contract.type),
                                          peer,
                                          lane.communicator,
                                          lane.stream)
                          : nccl.ncclRecv(empty ? lane.scratch : part.out,
                                          count,
                                          nccl_type(contract.type),
                                          peer,
                                          lane.communicator,
                                          lane.stream);
}

/// To the member behind this one, from the one before it: in one group call, none blocks the other.
[[nodiscard]] ncclResult_t call_ring_shift(const NcclLibrary& nccl, const NcclPart& part) {
  const NcclLane& lane = *part.lane;
  const ncclDataType_t type = nccl_type(part.contract.type);
  const auto members = static_cast<int>(lane.members.size());
  const auto own = static_cast<int>(part.member);
  const ncclResult_t sent = nccl.ncclSend(
      part.in, part.contract.count, type, (own + 1) % members, lane.communicator, lane.stream);
  return sent != ncclSuccess ? sent
                             : nccl.ncclRecv(part.out,
                                             part.contract.count,
                                             type,
                                             (own + members - 1) % members,
                                             lane.communicator,
                                             lane.stream);
}

/// A message to each member and one from each, in one group call.
[[nodiscard]] ncclResult_t call_all_to_all(const NcclLibrary& nccl, const NcclPart& part) {
  const NcclLane& lane = *part.lane;
  const std::size_t count = part.contract.count;
  const ncclDataType_t type = nccl_type(part.contract.type);
  const std::size_t bytes = count * size_of(part.contract.type);
  const auto* const in = static_cast<const std::byte*>(part.in);
  auto* const out = static_cast<std::byte*>(part.out);
  ncclResult_t result = ncclSuccess;
  for (std::size_t member = 0; member < lane.members.size(); ++member) {
    const auto peer = static_cast<int>(member);
    if (result == ncclSuccess) {
      result =
          nccl.ncclSend(in + member * bytes, count, type, peer, lane.communicator, lane.stream);
    }
    if (result == ncclSuccess) {
      result =
          nccl.ncclRecv(out + member * bytes, count, type, peer, lane.communicator, lane.stream);
    }
  }
  return result;
}

[[nodiscard]] ncclResult_t call_collective(const NcclLibrary& nccl, const NcclPart& part) {
  const NcclLane& lane = *part.lane;
  const Contract& contract = part.contract;
  const ncclDataType_t type = nccl_type(contract.type);
  const ncclRedOp_t reduction = nccl_reduction(contract.reduction);
  if (contract.kind == CommKind::kBarrier || contract.count == 0) {
    return nccl.ncclAllReduce(
        lane.scratch, lane.scratch, 1, ncclInt32, ncclSum, lane.communicator, lane.stream);
  }
  switch (contract.kind) {
    case CommKind::kAllReduce:
      return nccl.ncclAllReduce(
          part.in, part.out, contract.count, type, reduction, lane.communicator, lane.stream);
    case CommKind::kAllGather:
      return nccl.ncclAllGather(
          part.in, part.out, contract.count, type, lane.communicator, lane.stream);
    case CommKind::kReduceScatter:
      return nccl.ncclReduceScatter(
          part.in, part.out, contract.count, type, reduction, lane.communicator, lane.stream);
    case CommKind::kBroadcast:
      return nccl.ncclBroadcast(
          part.in, part.out, contract.count, type, contract.root, lane.communicator, lane.stream);
    case CommKind::kAllToAll:
      return call_all_to_all(nccl, part);
    case CommKind::kRingShift:
      return call_ring_shift(nccl, part);
    case CommKind::kBarrier:
    case CommKind::kTransfer:
      break;
  }
  return ncclInternalError;
}

}  // namespace

std::string describe(const NcclPart& part) {
  if (part.contract.kind == CommKind::kTransfer) {
    return fmt::format("{} #{} of {} {}",
                       part.member == 0 ? "send" : "recv",
                       part.sequence + 1,
                       describe(part.contract),
                       part.lane->label);
  }
  return fmt::format(
      "{} (#{} of {})", describe(part.contract), part.sequence + 1, part.lane->label);
}

void call_nccl(const NcclLibrary& nccl, const NcclPart& part) {
  const bool transfer = part.contract.kind == CommKind::kTransfer;
  nccl.check(transfer ? call_transfer(nccl, part) : call_collective(nccl, part),
             describe(part),
             part.lane->communicator);
}

}  // namespace stagewright
