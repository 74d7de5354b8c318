#include "core/base/duplicate_keys.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// One of several equal texts.
std::optional<std::string_view> repeated(std::span<const std::string_view> keys) {
  constexpr std::size_t kFew = 8;
  if (keys.size() <= kFew) {
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (std::ranges::find(keys.first(i), keys[i]) !=
          keys.begin() + static_cast<std::ptrdiff_t>(i)) {
        return keys[i];
      }
    }
    return std::nullopt;
  }
  std::vector<std::string_view> sorted(keys.begin(), keys.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  return twice == sorted.end() ? std::nullopt : std::optional(*twice);
}

/// Reads a text once, looking at nothing but its structure and keys.
class KeyScan {
 public:
  explicit KeyScan(std::string_view json) : json_(json) {}

  std::optional<DuplicateKey> run() {
    while (at_ < json_.size() && !found_) {
      step(json_[at_]);
      ++at_;
    }
    return found_;
  }

 private:
  /// An object or array that has not ended.
  struct Level {
    bool array = false;
    std::size_t entry = 0;      ///< of an array: the one at hand
    std::size_t first_key = 0;  ///< of an object: where its keys begin in `keys_`
  };

  void step(char c) {
    switch (c) {
      case '"':
        read_text();
        break;
      case '{':
      case '[':
        levels_.push_back({.array = c == '[', .entry = 0, .first_key = keys_.size()});
        key_next_ = c == '{';
        break;
      case '}':
      case ']':
        end_level();
        break;
      case ',':
        next_entry();
        break;
      default:
        break;
    }
  }

  void next_entry() {
    if (levels_.back().array) {
      ++levels_.back().entry;
    } else {
      key_next_ = true;
    }
  }

  /// Goes on to the closing quote.
  void read_text() {
    const std::size_t begin = at_;
    for (++at_; json_[at_] != '"'; ++at_) {
      at_ += json_[at_] == '\\' ? 1 : 0;
    }
    if (!key_next_) {
      return;
    }
    key_next_ = false;
    std::string_view key = json_.substr(begin + 1, at_ - begin - 1);
    if (key.find('\\') != std::string_view::npos) {
      key = unescaped_.emplace_back(
          nlohmann::json::parse(json_.substr(begin, at_ + 1 - begin)).get<std::string>());
    }
    keys_.push_back(key);
  }

  void end_level() {
    SW_CHECK(!levels_.empty(), "valid JSON");
    const std::size_t first = levels_.back().first_key;
    if (const auto twice = repeated(std::span(keys_).subspan(first))) {
      keys_.push_back(*twice);
      found_ = DuplicateKey{pointer(), std::string(*twice)};
      return;
    }
    keys_.resize(first);
    levels_.pop_back();
    key_next_ = false;
  }

  /// To the key at hand of the innermost object.
  [[nodiscard]] std::string pointer() const {
    std::string text;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const std::size_t end = i + 1 < levels_.size() ? levels_[i + 1].first_key : keys_.size();
      text += levels_[i].array ? fmt::format("/{}", levels_[i].entry)
                               : fmt::format("/{}", keys_[end - 1]);
    }
    return text;
  }

  std::string_view json_;
  std::size_t at_ = 0;
  bool key_next_ = false;
  std::vector<Level> levels_;
  std::vector<std::string_view> keys_;  ///< of all open objects, from the outermost on
  std::deque<std::string> unescaped_;   ///< keys that are not written as they are
  std::optional<DuplicateKey> found_;
};

}  // namespace

std::optional<DuplicateKey> find_duplicate_key(std::string_view json) {
  return KeyScan(json).run();
}

}  // namespace stagewright
