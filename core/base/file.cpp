#include "core/base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

namespace stagewright {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> io_error(const fs::path& path, std::string_view action, int number) {
  return fail(ErrorCode::kIo,
              fmt::format("cannot {}: {}; check the path, its permissions and the free space",
                          action,
                          std::strerror(number)),
              path.string());
}

/// Reads to the end or returns the errno that stopped it.  Streams would throw it.
int read_all(int descriptor, std::string& content) {
  struct stat status {};
  const bool sized = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  // One more than there should be, so that the end is found without more room.
  content.resize(sized ? static_cast<std::size_t>(status.st_size) + 1 : 0);
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  std::size_t size = 0;
  while (true) {
    if (size == content.size()) {
      content.resize(size + std::max(kPiece, size / 2));
    }
    const ssize_t read = ::read(descriptor, content.data() + size, content.size() - size);
    if (read < 0 && errno != EINTR) {
      return errno;
    }
    if (read == 0) {
      content.resize(size);
      return 0;
    }
    size += static_cast<std::size_t>(std::max<ssize_t>(read, 0));
  }
}

/// Writes everything or returns the errno that stopped it.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno;
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

/// Devices and pipes are written in place: a rename would put a plain file where they were.
Result<void> write_in_place(const fs::path& path, std::string_view content) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return io_error(path, "write the file", errno);
  }
  int number = write_all(descriptor, content);
  if (::close(descriptor) != 0 && number == 0) {
    number = errno;
  }
  return number == 0 ? Result<void>{} : io_error(path, "write the file", number);
}

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) {
    return fail(ErrorCode::kInvalidInput, "is a folder; name a file in it", path.string());
  }
  if (fs::is_character_file(path, code) || fs::is_block_file(path, code)) {
    return fail(
        ErrorCode::kInvalidInput, "is a device, which has no end; name a file", path.string());
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    if (errno == ENOENT) {
      return fail(ErrorCode::kNotFound, "no such file; check the path", path.string());
    }
    return io_error(path, "read the file", errno);
  }
  std::string content;
  const int number = read_all(descriptor, content);
  ::close(descriptor);
  if (number != 0) {
    return io_error(path, "read the file", number);
  }
  return content;
}

Result<void> check_folder_of(const fs::path& path) {
  std::error_code code;
  // "name/" is the folder of that name.
  const fs::path folder =
      path.has_filename() ? path.parent_path() : path.parent_path().parent_path();
  if (folder.empty() || fs::is_directory(folder, code)) {
    return {};
  }
  const bool exists = fs::exists(folder, code);
  return fail(ErrorCode::kIo,
              fmt::format("{} '{}'; {} or write to another path",
                          exists ? "cannot write below the file" : "there is no folder",
                          folder.string(),
                          exists ? "name a folder" : "make it"),
              path.string());
}

Result<void> make_folders(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  return code ? io_error(folder, "create the folder", code.value()) : Result<void>{};
}

Result<void> write_file(const fs::path& name, std::string_view content) {
  if (name.empty()) {
    return fail(ErrorCode::kInvalidInput, "the name of the file to write is empty; give one");
  }
  std::error_code code;
  const fs::file_status status = fs::status(name, code);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    return write_in_place(name, content);
  }
  // What a link leads to is replaced, not the link.
  const bool link = fs::is_symlink(fs::symlink_status(name, code));
  const fs::path path = link ? fs::weakly_canonical(name, code) : name;
  if (auto folder = check_folder_of(path); !folder) {
    return folder;
  }
  fs::path temporary = path;
  temporary += fmt::format(".{}.tmp", ::getpid());
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    return io_error(path, "write the file", errno);
  }
  int number = write_all(descriptor, content);
  if (::close(descriptor) != 0 && number == 0) {
    number = errno;
  }
  if (number == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) {
    number = errno;
  }
  if (number != 0) {
    ::unlink(temporary.c_str());
    return io_error(path, "write the file", number);
  }
  return {};
}

}  // namespace stagewright
