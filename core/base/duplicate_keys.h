#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stagewright {

/// A key that stands twice in one object of a JSON text.
struct DuplicateKey {
  std::string pointer;  ///< JSON pointer to it, "/ranks/0/name"
  std::string key;
};

/// The first object to end with such a key; parsers take the last of its values and say nothing.
/// REQUIRES: valid JSON.
[[nodiscard]] std::optional<DuplicateKey> find_duplicate_key(std::string_view json);

}  // namespace stagewright
