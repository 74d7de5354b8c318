#pragma once

#include <string_view>

namespace stagewright {

/// The version of this build, "0.1.0": the one in the top CMakeLists.txt.
[[nodiscard]] std::string_view version();

}  // namespace stagewright
