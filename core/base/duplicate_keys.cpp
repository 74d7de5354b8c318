#include "core/base/duplicate_keys.h"

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {

void DuplicateKeys::enter(bool array) {
  value();
  if (depth_ == levels_.size()) {
    levels_.emplace_back();
  }
  Level& level = levels_[depth_++];
  level.array = array;
  level.entries = 0;
  level.keys.clear();
}

void DuplicateKeys::begin_object() {
  enter(false);
}

void DuplicateKeys::begin_array() {
  enter(true);
}

void DuplicateKeys::end() {
  SW_CHECK(depth_ > 0, "an object or array that was begun");
  --depth_;
}

void DuplicateKeys::value() {
  if (depth_ > 0 && levels_[depth_ - 1].array) {
    ++levels_[depth_ - 1].entries;
  }
}

void DuplicateKeys::key(std::string_view name) {
  SW_CHECK(depth_ > 0, "a key in an object");
  Level& level = levels_[depth_ - 1];
  level.key = name;
  if (level.keys.insert(level.key).second || found_) {
    return;
  }
  std::string pointer;
  for (std::size_t i = 0; i < depth_; ++i) {
    const Level& above = levels_[i];
    pointer += above.array ? fmt::format("/{}", above.entries - 1) : "/" + above.key;
  }
  found_ = Found{std::move(pointer), level.key};
}

}  // namespace stagewright
