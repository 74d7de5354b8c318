#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/exit_code.h"

namespace stagewright {

/// The text that a command prints with --json: indented by two, with a line feed at the end.  Bytes
/// that are no UTF-8, as names of files and quoted input may hold, become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::json& json);

/// What --json prints where there is no result: {"error", "exit_code"}.
[[nodiscard]] nlohmann::json error_json(const std::string& error, ExitCode code);

}  // namespace stagewright
