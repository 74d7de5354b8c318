#include "core/base/data_files.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "core/base/embedded_files.h"
#include "core/base/file.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

namespace fs = std::filesystem;

class DataFilesTest : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view content) const {
    ASSERT_TRUE(make_folders((folder_.path() / name).parent_path()));
    ASSERT_TRUE(write_file(folder_.path() / name, content).has_value());
  }

  TemporaryFolder folder_;
};

TEST(EmbeddedFiles, AreSortedByNameAsFindExpects) {
  EXPECT_TRUE(std::ranges::is_sorted(embedded_files(), {}, &EmbeddedFile::name));
}

TEST(EmbeddedFiles, AreByteForByteTheFilesOfTheSourceTree) {
  const fs::path profiles = source_folder() / "profiles";
  std::size_t on_disk = 0;
  for (const auto& entry : fs::recursive_directory_iterator(profiles)) {
    on_disk += entry.path().extension() == ".json" ? 1 : 0;
  }
  EXPECT_EQ(embedded_files().size(), on_disk);
  const DataFiles files = DataFiles::embedded();
  for (const EmbeddedFile& file : embedded_files()) {
    EXPECT_EQ(files.find(file.name).value(), read_file(profiles / file.name).value()) << file.name;
  }
}

TEST_F(DataFilesTest, FindsNothingUnderAnUnknownName) {
  EXPECT_EQ(DataFiles::embedded().find("hardware/no-such-device.json"), std::nullopt);
}

TEST_F(DataFilesTest, AFolderAddsFilesAndListsThemSorted) {
  write("frameworks/zz-mine.json", R"({"b": 2})");
  write("frameworks/aa/nested.json", R"({"a": 1})");
  write("frameworks/notes.txt", "not data");
  const auto files = DataFiles::with_overrides(folder_.path());
  ASSERT_TRUE(files.has_value()) << files.error().to_string();

  EXPECT_EQ(files->find("frameworks/aa/nested.json"), R"({"a": 1})");
  EXPECT_EQ(files->where("frameworks/aa/nested.json"),
            folder_.path() / "frameworks/aa/nested.json");

  auto expected = DataFiles::embedded().list("frameworks");
  expected.emplace_back("frameworks/zz-mine.json");
  expected.emplace_back("frameworks/aa/nested.json");
  std::ranges::sort(expected);
  EXPECT_EQ(files->list("frameworks"), expected);
}

TEST_F(DataFilesTest, AFileOfTheFolderWinsOverTheEmbeddedOne) {
  ASSERT_FALSE(embedded_files().empty());
  const std::string name(embedded_files().front().name);
  write(name, "mine");
  const auto files = DataFiles::with_overrides(folder_.path());
  ASSERT_TRUE(files.has_value()) << files.error().to_string();
  EXPECT_EQ(files->find(name), "mine");
  EXPECT_EQ(DataFiles::embedded().find(name), embedded_files().front().content);
  EXPECT_EQ(DataFiles::embedded().where(name), "profiles/" + name);
}

TEST_F(DataFilesTest, ContentStaysValidWhenTheObjectMoves) {
  write("models/tiny.json", "{}");
  auto files = DataFiles::with_overrides(folder_.path());
  ASSERT_TRUE(files.has_value());
  const auto before = files->find("models/tiny.json");
  const DataFiles moved = std::move(*files);
  EXPECT_EQ(before->data(), moved.find("models/tiny.json")->data());
}

TEST_F(DataFilesTest, AMissingFolderIsNamed) {
  const fs::path missing = folder_.path() / "missing";
  EXPECT_EQ(DataFiles::with_overrides(missing).error(),
            (Error{ErrorCode::kNotFound, "no such folder; check the path", missing}));
}

TEST_F(DataFilesTest, AFolderWithoutDataSaysWhatItShouldHold) {
  EXPECT_EQ(
      DataFiles::with_overrides(folder_.path()).error(),
      (Error{ErrorCode::kInvalidInput,
             "holds no data files; it needs at least one of the folders calibration, clusters, "
             "frameworks, hardware, measured, models",
             folder_.path()}));
}

}  // namespace
}  // namespace stagewright
