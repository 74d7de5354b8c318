#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace stagewright {

/// Told of what a JSON parser meets, in order, it finds the first key that an object has twice.
/// Parsers keep the last one of those silently.
class DuplicateKeys {
 public:
  void begin_object();
  void begin_array();
  void end();  ///< of an object or array
  void key(std::string_view name);
  void value();  ///< a number, text, true, false or null

  /// A JSON pointer to the key, "/ranks/0/name", and the key alone.
  struct Found {
    std::string pointer;
    std::string key;
  };
  [[nodiscard]] const std::optional<Found>& found() const { return found_; }

 private:
  struct Level {
    bool array = false;
    std::size_t entries = 0;  ///< of an array: begun so far
    std::string key;          ///< of an object: the one at hand
    std::unordered_set<std::string> keys;
  };

  void enter(bool array);

  std::vector<Level> levels_;  ///< those beyond `depth_` are kept for the next of their depth
  std::size_t depth_ = 0;
  std::optional<Found> found_;
};

}  // namespace stagewright
