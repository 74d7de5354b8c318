#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stagewright {

/// The whole file as bytes.  kNotFound if there is none, kIo if it cannot be read.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path);

/// Writes `content` to a temporary name in the same folder, flushes it to disk and
/// renames it, so that `path` holds either the old or the new whole content, also
/// after Ctrl-C or a full disk.  The folder must exist (make_folders): a slip in a path is told,
/// not made a folder of.  kIo with the path and the reason otherwise; the temporary file is
/// removed.
[[nodiscard]] Result<void> write_file(const std::filesystem::path& path, std::string_view content);

/// Whether write_file would find the folder that `path` lies in; kIo naming it otherwise.
[[nodiscard]] Result<void> check_folder_of(const std::filesystem::path& path);

/// Makes a folder and those above it, where they are missing.  kIo with the path and the reason.
[[nodiscard]] Result<void> make_folders(const std::filesystem::path& folder);

}  // namespace stagewright
