#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stagewright {

/// The content of a file that may be packed by gzip; other content comes back as it is.  Of a
/// packed file that ends too early what there is.  kInvalidInput where the packed bytes are broken
/// or unpack to more than 32 GiB; kUnsupported for a packed file in a build without zlib.
[[nodiscard]] Result<std::string> unpacked(std::string content, std::string_view where);

/// Whether the content begins as packed files do.
[[nodiscard]] inline bool is_packed(std::string_view content) {
  return content.starts_with("\x1f\x8b");
}

}  // namespace stagewright
