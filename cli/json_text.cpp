#include "cli/json_text.h"

#include <nlohmann/json.hpp>

namespace stagewright {

std::string json_text(const nlohmann::json& json) {
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::json error_json(const std::string& error, ExitCode code) {
  return {{"error", error}, {"exit_code", static_cast<int>(code)}};
}

}  // namespace stagewright
