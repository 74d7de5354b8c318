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
/// after Ctrl-C or a full disk.  Missing parent folders are created.
/// kIo with the path and the reason otherwise; the temporary file is removed.
[[nodiscard]] Result<void> write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace stagewright
