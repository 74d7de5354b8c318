#include "runtime/comm/chunk.h"

#include <algorithm>
#include <vector>

namespace stagewright {

namespace {

/// Big enough that taking a chunk costs nothing beside doing it (about 10 us), small
/// enough that a few threads finish a megabyte together.
constexpr std::size_t kChunkBytes = std::size_t{128} * 1024;

/// A range of bytes within a part.
struct Range {
  std::size_t part = 0;
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

[[nodiscard]] Range range_of(const Contract& contract,
                             const Chunking& chunking,
                             std::size_t chunk) {
  const std::size_t begin = chunk % chunking.chunks_per_part * chunking.chunk_count;
  const std::size_t count = std::min(chunking.chunk_count, contract.count - begin);
  return {chunk / chunking.chunks_per_part,
          begin * size_of(contract.type),
          count * size_of(contract.type)};
}

/// out of `writers` at `out_offset` = reduction of everybody's in at `in_offset`.
void reduce(DataMover& mover,
            const Contract& contract,
            std::span<const MemberBuffers> members,
            std::span<const MemberBuffers> writers,
            std::size_t in_offset,
            std::size_t out_offset,
            std::size_t bytes) {
  std::vector<const std::byte*> ins;
  for (const MemberBuffers& member : members) {
    ins.push_back(member.in + in_offset);
  }
  std::vector<std::byte*> outs;
  for (const MemberBuffers& writer : writers) {
    outs.push_back(writer.out + out_offset);
  }
  mover.reduce(contract.type, contract.reduction, ins, outs, bytes);
}

/// Elements that a member sends to another one.
[[nodiscard]] std::size_t sent_to(const Contract& contract,
                                  const MemberBuffers& member,
                                  std::size_t to) {
  if (member.counts == nullptr) {
    return contract.count;
  }
  const std::int32_t* counts = member.counts + to * contract.experts;
  std::size_t rows = 0;
  for (std::size_t expert = 0; expert < contract.experts; ++expert) {
    rows += static_cast<std::size_t>(counts[expert]);
  }
  return std::min(rows * contract.row, contract.count);
}

/// Everybody's part for member `range.part`.
void exchange(DataMover& mover,
              const Contract& contract,
              std::span<const MemberBuffers> members,
              const Range& range) {
  const std::size_t part = contract.count * size_of(contract.type);
  for (std::size_t from = 0; from < members.size(); ++from) {
    const std::size_t sent = sent_to(contract, members[from], range.part) * size_of(contract.type);
    if (range.begin < sent) {
      mover.copy(members[range.part].out + from * part + range.begin,
                 members[from].in + range.part * part + range.begin,
                 std::min(range.bytes, sent - range.begin));
    }
  }
}

}  // namespace

Chunking cut(const Contract& contract, std::size_t members) {
  Chunking chunking;
  const bool in_parts = contract.kind == CommKind::kAllGather ||
                        contract.kind == CommKind::kReduceScatter ||
                        contract.kind == CommKind::kAllToAll;
  chunking.parts = in_parts ? members : 1;
  chunking.chunk_count = kChunkBytes / size_of(contract.type);
  chunking.chunks_per_part =
      std::max<std::size_t>(1, (contract.count + chunking.chunk_count - 1) / chunking.chunk_count);
  return chunking;
}

void do_chunk(DataMover& mover,
              const Contract& contract,
              std::span<const MemberBuffers> members,
              const Chunking& chunking,
              std::size_t chunk) {
  const Range range = range_of(contract, chunking, chunk);
  const std::size_t part_offset = range.part * contract.count * size_of(contract.type);
  const std::size_t in_whole = part_offset + range.begin;
  switch (contract.kind) {
    case CommKind::kAllReduce:
      return reduce(mover, contract, members, members, range.begin, range.begin, range.bytes);
    case CommKind::kReduceScatter:
      return reduce(mover,
                    contract,
                    members,
                    members.subspan(range.part, 1),
                    in_whole,
                    range.begin,
                    range.bytes);
    case CommKind::kAllGather:
      for (const MemberBuffers& member : members) {
        mover.copy(member.out + in_whole, members[range.part].in + range.begin, range.bytes);
      }
      return;
    case CommKind::kBroadcast: {
      const std::byte* root = members[static_cast<std::size_t>(contract.root)].in;
      for (const MemberBuffers& member : members) {
        mover.copy(member.out + range.begin, root + range.begin, range.bytes);
      }
      return;
    }
    case CommKind::kAllToAll:
      return exchange(mover, contract, members, range);
    case CommKind::kRingShift:
      for (std::size_t member = 0; member < members.size(); ++member) {
        const MemberBuffers& next = members[(member + 1) % members.size()];
        mover.copy(next.out + range.begin, members[member].in + range.begin, range.bytes);
      }
      return;
    case CommKind::kTransfer:
      return mover.copy(members[1].out + range.begin, members[0].in + range.begin, range.bytes);
    case CommKind::kBarrier:
      return;
  }
}

}  // namespace stagewright
