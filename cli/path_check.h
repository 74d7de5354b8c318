#pragma once

#include <string>

namespace stagewright {

/// Check of a path on the command line, for CLI::Option::check: an empty one is a variable of a
/// script that was never set, and not "no file".
[[nodiscard]] std::string path_given(const std::string& path);

}  // namespace stagewright
