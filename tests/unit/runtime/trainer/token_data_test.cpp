#include "runtime/trainer/token_data.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

class TokenDataTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& content) {
    std::filesystem::path path = folder_.path() / name;
    EXPECT_TRUE(write_file(path, content));
    return path;
  }
  [[nodiscard]] static std::vector<std::int64_t> all(const TokenData& data) {
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < data.size(); ++i) {
      tokens.push_back(data[i]);
    }
    return tokens;
  }

  TemporaryFolder folder_;
};

TEST_F(TokenDataTest, TextIsReadByteByByte) {
  const auto data = open_tokens(write("a.txt", "a\xC3\xA9"), 256);
  ASSERT_TRUE(data);
  EXPECT_EQ(all(*data), (std::vector<std::int64_t>{'a', 0xC3, 0xA9}));
}

TEST_F(TokenDataTest, FolderIsReadInOrderOfPathsWithoutOtherFiles) {
  write("b.md", "second");
  std::filesystem::create_directory(folder_.path() / "a");
  write("a/z.txt", "first");
  write("picture.png", "no text");
  const auto data = open_tokens(folder_.path(), 256);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->bytes, "first\n\nsecond");
}

TEST_F(TokenDataTest, TokensAreLittleEndianOfTheWidthThatTheVocabularyNeeds) {
  const auto path = write("data.bin", std::string("\x01\x02\x03\x00", 4));
  EXPECT_EQ(all(*open_tokens(path, 50'000)), (std::vector<std::int64_t>{0x201, 3}));
  EXPECT_EQ(all(*open_tokens(path, 200'000'000)), (std::vector<std::int64_t>{0x30201}));
  EXPECT_EQ(all(*open_tokens(path, 50'000'000, 2)), (std::vector<std::int64_t>{0x201, 3}));
}

TEST_F(TokenDataTest, TokenBeyondTheVocabularyIsNamedWithItsPosition) {
  const auto path = write("data.bin", std::string("\x01\x00\x09\x00", 4));
  const auto data = open_tokens(path, 9);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().to_string(),
            path.string() +
                ": token 9 at position 1 is not below the vocabulary of 9; use data made for this "
                "model, or a model with a larger vocabulary");
}

TEST_F(TokenDataTest, MissingFileEmptyFolderAndCutTokensAreErrors) {
  EXPECT_EQ(open_tokens(folder_.path() / "none.txt", 256).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(open_tokens(folder_.path(), 256).error().code, ErrorCode::kNotFound);
  const auto path = write("data.bin", "abc");
  EXPECT_EQ(open_tokens(path, 256).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(open_tokens(path, 256, 3).error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace stagewright
