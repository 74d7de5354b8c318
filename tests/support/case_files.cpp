#include "tests/support/case_files.h"

#include <cstdlib>

#include "tests/support/source_folder.h"

namespace stagewright {

std::optional<std::filesystem::path> case_files() {
  const char* named = std::getenv("STAGEWRIGHT_CASE_FILES");
  const std::filesystem::path folder =
      named != nullptr ? named : source_folder().parent_path() / "shared/cases/files";
  if (!std::filesystem::is_directory(folder)) {
    return std::nullopt;
  }
  return folder;
}

}  // namespace stagewright
