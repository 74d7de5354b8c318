#pragma once

#include <string_view>
#include <vector>

namespace stagewright {

/// The parts of "a,b,c", which may be empty; none of an empty text.
[[nodiscard]] std::vector<std::string_view> comma_list(std::string_view text);

}  // namespace stagewright
