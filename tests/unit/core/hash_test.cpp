#include "core/base/hash.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

// The vectors of the xxHash project for XXH3 with 128 bits and seed 0: the hash is written
// into files, so it may never change.
TEST(ContentHash, OfNothingIsThePublishedConstant) {
  EXPECT_EQ(content_hash(""), "99aa06d3014798d86001c324468d497f");
}

TEST(ContentHash, OfAWordIsWhatOtherImplementationsGive) {
  EXPECT_EQ(content_hash("abc"), "06b05ab6733a618578af5f94892f3950");
}

TEST(ContentHash, TellsApartWhatDiffersInOneBit) {
  EXPECT_NE(content_hash("plan a"), content_hash("plan c"));
}

TEST(ContentHash, CountsZeroBytes) {
  using namespace std::string_view_literals;
  EXPECT_NE(content_hash("\0"sv), content_hash("\0\0"sv));
}

}  // namespace
}  // namespace stagewright
