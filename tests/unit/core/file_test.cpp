#include "core/base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

namespace fs = std::filesystem;

/// Names in `folder`, to see that no temporary file stays.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

/// While it lives, this process can write no file longer than `bytes`, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(WriteFile, KeepsEveryByte) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a/b/c.bin";
  ASSERT_TRUE(make_folders(path.parent_path()).has_value());
  const std::string content("one\0two\r\n\xff", 10);
  ASSERT_TRUE(write_file(path, content).has_value());
  EXPECT_EQ(read_file(path).value(), content);
  EXPECT_EQ(names_in(path.parent_path()), std::vector<std::string>{"c.bin"});
}

TEST(WriteFile, ReplacesALongerFileWhole) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "plan.json";
  ASSERT_TRUE(write_file(path, "a long old content").has_value());
  ASSERT_TRUE(write_file(path, "").has_value());
  EXPECT_EQ(read_file(path).value(), "");
}

TEST(WriteFile, LeavesTheOldFileWholeWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "trace.json";
  ASSERT_TRUE(write_file(path, "old").has_value());
  Result<void> written;
  {
    const FileSizeLimit limit(4096);
    written = write_file(path, std::string(10'000, 'x'));
  }
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error(),
            (Error{ErrorCode::kIo,
                   "cannot write the file: File too large; check the path, its permissions and "
                   "the free space",
                   path}));
  EXPECT_EQ(read_file(path).value(), "old");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"trace.json"});
}

TEST(WriteFile, NamesTheFolderThatIsMissingAndMakesNone) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a/b/c.bin";
  const auto written = write_file(path, "x");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error(),
            (Error{ErrorCode::kIo,
                   "there is no folder '" + path.parent_path().string() +
                       "'; make it or write to another path",
                   path}));
  EXPECT_TRUE(names_in(folder.path()).empty());
  const fs::path file = folder.path() / "file";
  ASSERT_TRUE(write_file(file, "x").has_value());
  EXPECT_EQ(write_file(file / "trace.json", "y").error(),
            (Error{ErrorCode::kIo,
                   "cannot write below the file '" + file.string() +
                       "'; name a folder or write to another path",
                   file / "trace.json"}));
}

TEST(MakeFolders, NamesTheOneThatItCannotMake) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
  ASSERT_TRUE(write_file(file, "x").has_value());
  const auto made = make_folders(file / "below");
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error(),
            (Error{ErrorCode::kIo,
                   "cannot create the folder: Not a directory; check the path, its permissions "
                   "and the free space",
                   file / "below"}));
}

TEST(WriteFile, CannotReplaceAFolder) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "out";
  fs::create_directory(path);
  const auto written = write_file(path, "x");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
  EXPECT_EQ(written.error().where, path);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"out"});
}

TEST(WriteFile, LeavesDevicesAndLinksWhatTheyAre) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(write_file(pipe, "abc").has_value());
  std::string read(8, '\0');
  EXPECT_EQ(::read(reader, read.data(), read.size()), 3);
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));

  const fs::path target = folder.path() / "target";
  const fs::path link = folder.path() / "link";
  ASSERT_TRUE(write_file(target, "old").has_value());
  fs::create_symlink("target", link);
  ASSERT_TRUE(write_file(link, "new").has_value());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(target).value(), "new");
}

TEST(WriteFile, NeedsAName) {
  EXPECT_EQ(write_file("", "x").error().code, ErrorCode::kInvalidInput);
}

TEST(ReadFile, SaysThatThereIsNone) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "none.json";
  EXPECT_EQ(read_file(path).error(),
            (Error{ErrorCode::kNotFound, "no such file; check the path", path}));
}

TEST(ReadFile, DoesNotReadAFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_file(folder.path()).error(),
            (Error{ErrorCode::kInvalidInput, "is a folder; name a file in it", folder.path()}));
}

TEST(ReadFile, SaysWhereReadingFails) {
  // Its first page is no memory of this process, so that reading it fails.
  const auto content = read_file("/proc/self/mem");
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, ErrorCode::kIo);
  EXPECT_EQ(content.error().where, "/proc/self/mem");
}

TEST(ReadFile, ReadsWhatDoesNotSayItsSize) {
  const auto status = read_file("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->rfind("Name:", 0), 0U);

  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string sent(300'000, 'x');
  std::thread writer([&] { EXPECT_TRUE(write_file(pipe, sent)); });
  const auto content = read_file(pipe);
  writer.join();
  ASSERT_TRUE(content);
  EXPECT_EQ(*content, sent);
}

TEST(ReadFile, AFileBelowAFileIsRefusedWithTheReason) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
  ASSERT_TRUE(write_file(file, "x").has_value());
  EXPECT_EQ(read_file(file / "plan.json").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace stagewright
