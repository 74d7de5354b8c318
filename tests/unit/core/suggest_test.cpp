#include "core/base/suggest.h"

#include <array>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 3> kSchedules = {"gpipe", "1f1b", "zero-bubble"};

TEST(Suggestion, NamesTheCandidateOneSlipAway) {
  EXPECT_EQ(suggestion("gpip", kSchedules), "; did you mean 'gpipe'?");
  EXPECT_EQ(suggestion("1f1p", kSchedules), "; did you mean '1f1b'?");
  EXPECT_EQ(suggestion("zero_buble", kSchedules), "; did you mean 'zero-bubble'?");
}

TEST(Suggestion, ListsAllWhenNothingIsNear) {
  EXPECT_EQ(suggestion("interleaved", kSchedules), "; known: gpipe, 1f1b, zero-bubble");
}

TEST(Suggestion, SaysNothingWithoutCandidates) {
  EXPECT_EQ(suggestion("gpipe", {}), "");
}

TEST(NearestName, AllowsAThirdOfTheLettersToDiffer) {
  EXPECT_EQ(nearest_name("abcdxx", std::array<std::string_view, 1>{"abcdef"}), "abcdef");
  EXPECT_EQ(nearest_name("abcxxx", std::array<std::string_view, 1>{"abcdef"}), std::nullopt);
}

TEST(NearestName, PrefersTheNearerAndThenTheFirst) {
  EXPECT_EQ(nearest_name("h100x", std::array<std::string_view, 2>{"h200x", "h100"}), "h200x");
  EXPECT_EQ(nearest_name("h100", std::array<std::string_view, 2>{"h200", "h100"}), "h100");
}

}  // namespace
}  // namespace stagewright
