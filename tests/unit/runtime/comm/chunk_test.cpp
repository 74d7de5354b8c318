#include "runtime/comm/chunk.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

constexpr std::size_t kMembers = 3;

/// Buffers of kMembers members, all in place, filled with different numbers.
struct Buffers {
  explicit Buffers(std::size_t count) : values(kMembers, std::vector<std::int32_t>(count)) {
    std::int32_t next = 1;
    for (auto& member : values) {
      std::iota(member.begin(), member.end(), next);
      next += 1000003;
    }
  }

  /// Each member's `in` and `out` begin at these elements of its buffer.
  [[nodiscard]] std::vector<MemberBuffers> at(const std::vector<std::size_t>& in,
                                              const std::vector<std::size_t>& out) {
    std::vector<MemberBuffers> buffers;
    for (std::size_t i = 0; i < kMembers; ++i) {
      auto* const base = values[i].data();
      buffers.push_back({reinterpret_cast<const std::byte*>(base + in[i]),
                         reinterpret_cast<std::byte*>(base + out[i])});
    }
    return buffers;
  }

  std::vector<std::vector<std::int32_t>> values;
};

/// Does all chunks, in an order of the seed's choosing.
void do_all(const Contract& contract, const std::vector<MemberBuffers>& buffers, unsigned seed) {
  const Chunking chunking = cut(contract, kMembers);
  std::vector<std::size_t> order(chunking.chunks());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  for (const std::size_t chunk : order) {
    do_chunk(*make_host_mover(), contract, buffers, chunking, chunk);
  }
}

[[nodiscard]] Contract of(CommKind kind, std::size_t count) {
  return {kind, ElementType::kInt32, count, Reduction::kSum, 1};
}

TEST(Chunking, CutsEveryPartIntoWholeChunksAndARest) {
  const Chunking one = cut(of(CommKind::kAllReduce, 1), kMembers);
  EXPECT_EQ(one.chunks(), 1U);
  const Chunking parts = cut(of(CommKind::kAllGather, one.chunk_count + 1), kMembers);
  EXPECT_EQ(parts.parts, kMembers);
  EXPECT_EQ(parts.chunks_per_part, 2U);
}

TEST(Chunking, GivesAnOperationOnNothingOneChunkToComplete) {
  EXPECT_EQ(cut(of(CommKind::kAllReduce, 0), kMembers).chunks(), 1U);
  EXPECT_EQ(cut({}, kMembers).chunks(), 1U);
}

class DoChunk : public testing::TestWithParam<unsigned> {
 protected:
  /// Three chunks and a bit.
  static constexpr std::size_t kCount = 3 * 32768 + 5;
};

// In place, so that a chunk which read what another one writes would show in some order.
TEST_P(DoChunk, AllReducesInPlaceInAnyOrderOfChunks) {
  Buffers buffers(kCount);
  std::vector<std::int32_t> sum(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    sum[i] = buffers.values[0][i] + buffers.values[1][i] + buffers.values[2][i];
  }
  do_all(of(CommKind::kAllReduce, kCount), buffers.at({0, 0, 0}, {0, 0, 0}), GetParam());
  EXPECT_EQ(buffers.values, (std::vector{sum, sum, sum}));
}

TEST_P(DoChunk, ReduceScattersInPlaceInAnyOrderOfChunks) {
  Buffers buffers(kCount * kMembers);
  std::vector<std::vector<std::int32_t>> expected = buffers.values;
  for (std::size_t member = 0; member < kMembers; ++member) {
    for (std::size_t i = member * kCount; i < (member + 1) * kCount; ++i) {
      expected[member][i] = buffers.values[0][i] + buffers.values[1][i] + buffers.values[2][i];
    }
  }
  do_all(of(CommKind::kReduceScatter, kCount),
         buffers.at({0, 0, 0}, {0, kCount, 2 * kCount}),
         GetParam());
  EXPECT_EQ(buffers.values, expected);
}

TEST_P(DoChunk, AllGathersInPlaceInAnyOrderOfChunks) {
  Buffers buffers(kCount * kMembers);
  std::vector<std::int32_t> all(kCount * kMembers);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = buffers.values[i / kCount][i];
  }
  do_all(
      of(CommKind::kAllGather, kCount), buffers.at({0, kCount, 2 * kCount}, {0, 0, 0}), GetParam());
  EXPECT_EQ(buffers.values, (std::vector{all, all, all}));
}

TEST_P(DoChunk, BroadcastsTheRootsBuffer) {
  Buffers buffers(kCount);
  const std::vector<std::int32_t> root = buffers.values[1];
  do_all(of(CommKind::kBroadcast, kCount), buffers.at({0, 0, 0}, {0, 0, 0}), GetParam());
  EXPECT_EQ(buffers.values, (std::vector{root, root, root}));
}

TEST_P(DoChunk, ShiftsRound) {
  Buffers buffers(2 * kCount);
  const std::vector<std::vector<std::int32_t>> before = buffers.values;
  do_all(of(CommKind::kRingShift, kCount),
         buffers.at({0, 0, 0}, {kCount, kCount, kCount}),
         GetParam());
  for (std::size_t member = 0; member < kMembers; ++member) {
    const std::vector<std::int32_t>& from = before[(member + kMembers - 1) % kMembers];
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(buffers.values[member][i], before[member][i]);
      ASSERT_EQ(buffers.values[member][kCount + i], from[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DoChunk, testing::Values(1U, 2U, 3U));

}  // namespace
}  // namespace stagewright
