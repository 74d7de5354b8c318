#include "runtime/compute/kernels/token_places.h"

#include <vector>

#include <gtest/gtest.h>

namespace stagewright::kernels {
namespace {

// 16 tokens in 8 blocks: part 1 has blocks 1 and 6.
TEST(TokenPlaces, GiveAPartItsTwoBlocks) {
  const TokenPlaces places{.tokens = 4, .part = 1, .parts = 4};
  EXPECT_EQ(places.place(0), 2);
  EXPECT_EQ(places.place(1), 3);
  EXPECT_EQ(places.place(2), 12);
  EXPECT_EQ(places.place(3), 13);
}

TEST(TokenPlaces, CountRowsThroughTheMicroBatch) {
  const TokenPlaces places{.tokens = 4, .part = 1, .parts = 4, .first_row = 2};
  EXPECT_EQ(places.in_sequence(3), 3);          // row 5: the second sequence's second token
  EXPECT_EQ(places.in_micro_batch(3), 16 + 3);  // behind 16 of the first
  const TokenPlaces usual{.first_row = 5};
  EXPECT_EQ(usual.in_micro_batch(2), 7);
}

// Each token once, and in every part as many pairs of a query and a key that it sees.
TEST(TokenPlaces, DivideTheTriangleOfACausalMask) {
  constexpr Index kParts = 3;
  constexpr Index kTokens = 8;
  std::vector<int> seen(kParts * kTokens);
  for (Index part = 0; part < kParts; ++part) {
    const TokenPlaces places{.tokens = kTokens, .part = part, .parts = kParts};
    Index pairs = 0;
    Index before = -1;
    for (Index token = 0; token < kTokens; ++token) {
      const Index place = places.place(token);
      EXPECT_GT(place, before);
      before = place;
      ++seen[static_cast<std::size_t>(place)];
      pairs += place + 1;
    }
    EXPECT_EQ(pairs, kTokens * (kParts * kTokens + 1) / 2);
  }
  EXPECT_EQ(seen, std::vector<int>(kParts * kTokens, 1));
}

}  // namespace
}  // namespace stagewright::kernels
