#include "core/profile/profile.h"

#include <algorithm>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace stagewright {
namespace {

Profile small_profile() {
  Profile profile;
  profile.device = "cpu";
  profile.concurrent_ranks = 2;
  profile.made_by = {{"date", "2025-01-02"}, {"host", "a \"quoted\" host"}};
  profile.operations = {{"add fp32 rows=4 cols=8 2>1", {Duration(1234567), Duration(89), 5}},
                        {"gemm fp32 rows=4 2>1", {Duration(0), Duration(0), 1}}};
  profile.segments = {{"0123", "block forward", 12, {Duration(3), Duration(2), 9}, 4096_B}};
  const auto link = [](const char* operation, int ranks, Bytes bytes, std::int64_t us) {
    return MeasuredLink{operation, ranks, bytes, {Duration(us * 1'000'000), Duration(1), 3}};
  };
  profile.links = {link("all-reduce", 2, 1000_B, 10),
                   link("all-reduce", 4, 1000_B, 30),
                   link("send", 2, 0_B, 2),
                   link("send", 2, 1000_B, 4),
                   link("send", 2, 3000_B, 10)};
  return profile;
}

TEST(Profile, FindsWhatWasMeasured) {
  const Profile profile = small_profile();
  EXPECT_EQ(profile.operation("gemm fp32 rows=4 2>1"), &profile.operations[1]);
  EXPECT_EQ(profile.operation("gemm"), nullptr);
  EXPECT_EQ(profile.segment("0123"), &profile.segments[0]);
  EXPECT_EQ(profile.segment("9"), nullptr);
}

/// "4 us", with a star where extrapolated; "none".
std::string link_time(const Profile& profile, std::string_view operation, int ranks, Bytes bytes) {
  const auto time = profile.link(operation, ranks, bytes);
  return time ? to_string(time->time) + (time->extrapolated ? "*" : "") : "none";
}

TEST(Profile, LinksAreLinearBetweenMeasuredSizes) {
  const Profile profile = small_profile();
  EXPECT_EQ(link_time(profile, "send", 2, 0_B), "2 us");
  EXPECT_EQ(link_time(profile, "send", 2, 500_B), "3 us");
  EXPECT_EQ(link_time(profile, "send", 2, 1000_B), "4 us");
  EXPECT_EQ(link_time(profile, "send", 2, 2000_B), "7 us");
  EXPECT_EQ(link_time(profile, "send", 2, 3000_B), "10 us");
}

TEST(Profile, LinksBeyondMeasuredSizesAreFlagged) {
  const Profile profile = small_profile();
  // The last two points continued: 3 us for each further 1000 bytes.
  EXPECT_EQ(link_time(profile, "send", 2, 5000_B), "16 us*");
  // A single point: its time below, in proportion above.
  EXPECT_EQ(link_time(profile, "all-reduce", 4, 10_B), "30 us*");
  EXPECT_EQ(link_time(profile, "all-reduce", 4, 2000_B), "60 us*");
}

TEST(Profile, LinksOfOtherGroupsAreNotGuessed) {
  const Profile profile = small_profile();
  EXPECT_EQ(link_time(profile, "all-reduce", 3, 1000_B), "none");
  EXPECT_EQ(link_time(profile, "all-gather", 2, 1000_B), "none");
  EXPECT_EQ(link_time(Profile(), "send", 2, 1000_B), "none");
}

TEST(Profile, CollectivesInLayersHaveTimesOfTheirOwn) {
  Profile profile = small_profile();
  const MeasuredLink in_layers{
      "all-reduce", 2, 1000_B, {Duration(35'000'000), Duration(1), 3}, true};
  profile.links.insert(profile.links.begin() + 2, in_layers);
  ASSERT_TRUE(std::ranges::is_sorted(profile.links, in_order));
  const auto time = [&](std::int32_t ranks, bool inside) {
    return to_string(profile.link("all-reduce", ranks, 1000_B, inside)->time);
  };
  EXPECT_EQ(time(2, true), "35 us");
  EXPECT_EQ(time(2, false), "10 us");
  EXPECT_EQ(time(4, true), "30 us");  // nobody met it there
  const auto read = parse_profile(to_json_text(profile), "p.json");
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_EQ(*read, profile);
}

TEST(Profile, MoreBytesNeverTakeNegativeTime) {
  Profile profile = small_profile();
  profile.links[4].time.median = Duration(1);  // a noisy point: larger, yet faster
  EXPECT_EQ(link_time(profile, "send", 2, 6000_B), "2 ps*");
}

TEST(ProfileFile, ReadsBackWhatItWrote) {
  for (const Profile& profile : {small_profile(), Profile{.device = "x"}}) {
    const std::string text = to_json_text(profile);
    const auto read = parse_profile(text, "p.json");
    ASSERT_TRUE(read.has_value()) << read.error().to_string();
    EXPECT_EQ(*read, profile);
    EXPECT_EQ(to_json_text(*read), text);
  }
}

std::string error_of(const std::string& text) {
  const auto read = parse_profile(text, "p.json");
  return read ? "none" : read.error().to_string();
}

TEST(ProfileFile, WrongValuesAreNamed) {
  const auto error = [](const std::string& pointer, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(to_json_text(small_profile()));
    json[nlohmann::json::json_pointer(pointer)] = value;
    return error_of(json.dump());
  };
  EXPECT_EQ(
      error("/operations/0/median", "2 h"),
      "p.json:/operations/0/median: 7200 s is no measured time; it must lie between 0 and 1 h");
  EXPECT_NE(error("/operations/0/median", "-5 ps"), "none");
  EXPECT_NE(error("/operations/0/spread", "5"), "none");
  EXPECT_EQ(error("/operations/0/samples", 0),
            "p.json:/operations/0/samples: is 0; it must be 1 or more");
  EXPECT_EQ(error("/operations/1/key", "add"),
            "p.json:/operations/1/key: stands behind an entry that is equal or comes after it; "
            "sort the list");
  EXPECT_EQ(error("/segments/0/key", ""), "p.json:/segments/0/key: is empty");
  EXPECT_EQ(error("/segments/0/memory", "17 TiB"),
            "p.json:/segments/0/memory: must lie between 0 and 16 TiB");
  EXPECT_EQ(error("/links/0/ranks", 1), "p.json:/links/0/ranks: is 1; a message needs 2 or more");
  EXPECT_EQ(error("/links/3/bytes", "0 B"),
            "p.json:/links/3/operation: stands behind an entry that is equal or comes after it; "
            "sort the list");
  EXPECT_EQ(error("/version", 2), "p.json:/version: is 2; this program reads version 1");
  EXPECT_EQ(error("/format", "other"),
            "p.json: is no profile: the key \"format\" must be \"stagewright-profile\"");
  EXPECT_NE(error("/surprise", 1).find("unknown key 'surprise'"), std::string::npos);
}

TEST(ProfileFile, ATruncatedOrForeignFileIsRefused) {
  const std::string text = to_json_text(small_profile());
  for (std::size_t length = 0; length + 2 < text.size(); length += 11) {
    EXPECT_NE(error_of(text.substr(0, length)).find("not valid JSON at line"), std::string::npos);
  }
  EXPECT_NE(error_of("[]"), "none");
}

}  // namespace
}  // namespace stagewright
