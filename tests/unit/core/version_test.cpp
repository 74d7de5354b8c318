#include "core/base/version.h"

#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/support/source_folder.h"

namespace stagewright {
namespace {

TEST(Version, IsTheOneOfTheBuildFile) {
  const std::string text = read_file(source_folder() / "CMakeLists.txt").value();
  std::smatch match;
  ASSERT_TRUE(std::regex_search(text, match, std::regex(R"(VERSION (\d+\.\d+\.\d+) LANG)")));
  EXPECT_EQ(version(), match.str(1));
}

}  // namespace
}  // namespace stagewright
