#pragma once

#include <filesystem>

namespace stagewright {

/// The top of the source tree that the tests were built from.
[[nodiscard]] std::filesystem::path source_folder();

}  // namespace stagewright
