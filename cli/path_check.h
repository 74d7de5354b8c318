#pragma once

#include <string>

namespace stagewright {

/// Check of a path on the command line, for CLI::Option::check: an empty one is a variable of a
/// script that was never set, and not "no file".
[[nodiscard]] std::string path_given(const std::string& path);
/// The same of another value: an empty one is not the default.
[[nodiscard]] std::string value_given(const std::string& value);

}  // namespace stagewright
