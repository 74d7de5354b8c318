#include "cli/json_text.h"

#include <nlohmann/json.hpp>

namespace stagewright {

std::string json_text(const nlohmann::json& json) {
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace stagewright
