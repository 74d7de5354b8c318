#include "cli/comma_list.h"

#include <cstddef>

namespace stagewright {

std::vector<std::string_view> comma_list(std::string_view text) {
  std::vector<std::string_view> parts;
  bool more = !text.empty();
  while (more) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(more ? comma + 1 : text.size());
  }
  return parts;
}

}  // namespace stagewright
