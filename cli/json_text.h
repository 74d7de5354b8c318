#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace stagewright {

/// The text that a command prints with --json: indented by two, with a line feed at the end.  Bytes
/// that are no UTF-8, as names of files and quoted input may hold, become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::json& json);

}  // namespace stagewright
