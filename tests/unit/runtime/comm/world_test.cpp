#include "runtime/comm/world.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

[[nodiscard]] std::string problem(const WorldSpec& spec) {
  const Result<void> result = validate(spec);
  return result ? "" : result.error().to_string();
}

TEST(WorldSpec, AcceptsOverlappingGroupsAndLinksOfBothDirections) {
  WorldSpec spec;
  spec.ranks = 4;
  spec.groups = {{"tensor 0", {RankId(0), RankId(1)}}, {"data 0", {RankId(2), RankId(0)}}};
  spec.links = {{RankId(0), RankId(1), ChannelId(0)}, {RankId(1), RankId(0), ChannelId(0)}};
  EXPECT_EQ(problem(spec), "");
}

TEST(WorldSpec, NamesTheGroupWithABadMember) {
  WorldSpec spec;
  spec.ranks = 2;
  spec.groups = {{"data", {RankId(0), RankId(2)}}};
  EXPECT_EQ(problem(spec), "/groups/0 'data': member 2 is not a rank of this world of 2");
  spec.groups = {{"data", {RankId(1), RankId(1)}}};
  EXPECT_EQ(problem(spec), "/groups/0 'data': rank 1 is a member twice");
  spec.groups = {{"data", {}}};
  EXPECT_EQ(problem(spec), "/groups/0 'data': the group has no members");
}

TEST(WorldSpec, NamesALinkThatIsOutOfRangeOrListedTwice) {
  WorldSpec spec;
  spec.ranks = 2;
  spec.links = {{RankId(0), RankId(2), ChannelId(3)}};
  EXPECT_EQ(problem(spec), "/links/0: rank 0 -> rank 2 on channel 3 leaves this world of 2 ranks");
  spec.links = {{RankId(0), RankId(1), ChannelId(3)}, {RankId(0), RankId(1), ChannelId(3)}};
  EXPECT_EQ(problem(spec), "/links/1: rank 0 -> rank 1 on channel 3 is listed twice");
}

TEST(WorldSpec, NeedsARank) {
  WorldSpec spec;
  spec.ranks = 0;
  EXPECT_EQ(problem(spec), "/ranks: a world of 0 ranks; it needs at least one");
}

TEST(WorldSpec, AllLinksListsEachDirectionOnce) {
  WorldSpec spec;
  spec.ranks = 3;
  spec.links = all_links(3, 2);
  EXPECT_EQ(spec.links.size(), 18U);
  EXPECT_EQ(problem(spec), "");
}

}  // namespace
}  // namespace stagewright
