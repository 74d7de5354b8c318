#pragma once

#include <span>
#include <string_view>

namespace stagewright {

/// A file of profiles/ as it was when the program was built.
struct EmbeddedFile {
  std::string_view name;  ///< relative to profiles/: "hardware/h100-80gb-sxm.json"
  std::string_view content;
};

/// All of them, sorted by name.  Defined in a file that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

}  // namespace stagewright
