#pragma once

#include <filesystem>
#include <optional>

namespace stagewright {

/// The folder with other projects' real files (model configurations, logs, topologies),
/// which are not ours to publish: $STAGEWRIGHT_CASE_FILES, or shared/cases/files beside the
/// source tree.  Nothing where neither exists; the test then skips and says so.
[[nodiscard]] std::optional<std::filesystem::path> case_files();

}  // namespace stagewright
