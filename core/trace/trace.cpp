#include "core/trace/trace.h"

#include <string>

namespace stagewright {

Result<Trace> parse_trace(std::string_view content, std::string_view where) {
  if (content.starts_with("SWTR")) {
    return parse_binary(content, where);
  }
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (content[first] == '{' || content[first] == '[')) {
    return parse_chrome_json(content, where);
  }
  return fail(ErrorCode::kInvalidInput,
              "is no trace: it begins neither like JSON nor with SWTR",
              std::string(where));
}

}  // namespace stagewright
