#include "runtime/comm/world_places.h"

#include <set>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

/// Two tensor groups, two data groups, links up and down one pipeline, one to itself.
[[nodiscard]] WorldSpec grid() {
  WorldSpec spec;
  spec.ranks = 4;
  spec.groups = {{"tensor", {RankId(0), RankId(1)}},
                 {"tensor", {RankId(2), RankId(3)}},
                 {"data", {RankId(2), RankId(0)}},
                 {"alone", {RankId(1)}}};
  spec.links = {{RankId(0), RankId(1), ChannelId(0)},
                {RankId(1), RankId(0), ChannelId(1)},
                {RankId(3), RankId(3), ChannelId(0)}};
  return spec;
}

TEST(WorldPlaces, AreTheWorldThenGroupsThenLinks) {
  const std::vector<WorldPlace> places = places_of(grid());
  ASSERT_EQ(places.size(), 8U);
  EXPECT_EQ(places[0].label, "the world");
  EXPECT_EQ(places[0].members.size(), 4U);
  EXPECT_EQ(places[3].label, "group 'data'");
  EXPECT_EQ(places[3].members, (std::vector<RankId>{RankId(2), RankId(0)}));
  EXPECT_EQ(places[6].label, "from rank 1 to rank 0 on channel 1");
  EXPECT_EQ(places[6].members, (std::vector<RankId>{RankId(1), RankId(0)}));
}

TEST(WorldPlaces, RoundsHaveEachPlaceOfSeveralRanksOnceAndNoRankTwice) {
  const std::vector<WorldPlace> places = places_of(grid());
  const auto rounds = disjoint_rounds(places);
  std::multiset<std::size_t> seen;
  for (const auto& round : rounds) {
    std::set<RankId> busy;
    for (const std::size_t place : round) {
      seen.insert(place);
      for (const RankId member : places[place].members) {
        EXPECT_TRUE(busy.insert(member).second) << "place " << place;
      }
    }
  }
  EXPECT_EQ(seen, (std::multiset<std::size_t>{0, 1, 2, 3, 5, 6}));
  EXPECT_EQ(rounds[1], (std::vector<std::size_t>{1, 2}));  // both tensor groups at once
}

TEST(WorldPlaces, FingerprintsTellWorldsApart) {
  EXPECT_EQ(fingerprint(grid()), fingerprint(grid()));
  WorldSpec other = grid();
  std::swap(other.groups[2].members[0], other.groups[2].members[1]);
  EXPECT_NE(fingerprint(other), fingerprint(grid()));
}

}  // namespace
}  // namespace stagewright
