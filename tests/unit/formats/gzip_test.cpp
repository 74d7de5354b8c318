#include "formats/gzip.h"

#include <array>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

/// "one step\n", packed by gzip.
std::string packed() {
  constexpr std::array<unsigned char, 29> kBytes{
      0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0xcf, 0x4b, 0x55, 0x28,
      0x2e, 0x49, 0x2d, 0xe0, 0x02, 0x00, 0xd1, 0xba, 0x49, 0xa5, 0x09, 0x00, 0x00, 0x00};
  return {kBytes.begin(), kBytes.end()};
}

bool can_unpack() {
  const auto content = unpacked(packed(), "x.gz");
  return content || content.error().code != ErrorCode::kUnsupported;
}

TEST(Gzip, LeavesOtherContentAlone) {
  EXPECT_EQ(unpacked("{}", "x.json").value(), "{}");
  EXPECT_EQ(unpacked("", "x.json").value(), "");
}

TEST(Gzip, UnpacksOneFileOrSeveral) {
  if (!can_unpack()) {
    GTEST_SKIP() << "this build has no zlib";
  }
  EXPECT_EQ(unpacked(packed(), "x.gz").value(), "one step\n");
  EXPECT_EQ(unpacked(packed() + packed(), "x.gz").value(), "one step\none step\n");
}

TEST(Gzip, GivesWhatThereIsOfAFileThatIsCutOff) {
  if (!can_unpack()) {
    GTEST_SKIP() << "this build has no zlib";
  }
  const std::string whole = packed();
  for (std::size_t size = 2; size < whole.size(); ++size) {
    const auto content = unpacked(whole.substr(0, size), "x.gz");
    ASSERT_TRUE(content.has_value()) << size << ": " << content.error().to_string();
    EXPECT_EQ(std::string("one step\n").substr(0, content->size()), *content);
  }
}

TEST(Gzip, SaysWhatIsBroken) {
  if (!can_unpack()) {
    GTEST_SKIP() << "this build has no zlib";
  }
  std::string broken = packed();
  broken[22] = '\x11';  // of the checksum
  const auto content = unpacked(broken, "x.gz");
  ASSERT_FALSE(content.has_value());
  EXPECT_NE(content.error().to_string().find("x.gz: its compressed bytes are broken"),
            std::string::npos)
      << content.error().to_string();
}

}  // namespace
}  // namespace stagewright
