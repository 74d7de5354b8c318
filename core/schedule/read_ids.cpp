#include "core/schedule/read_ids.h"

#include <limits>

#include <fmt/format.h>

namespace stagewright {
namespace {

bool is_index(std::int64_t value) {
  return value >= 0 && value <= std::numeric_limits<std::int32_t>::max();
}

void refuse(JsonReader& reader, std::string_view key, std::int64_t value) {
  reader.reject(key, fmt::format("is {}; it must lie in 0 .. 2^31 - 1", value));
}

}  // namespace

std::int32_t read_index(JsonReader& reader, std::string_view key) {
  const std::int64_t value = reader.integer(key);
  if (!is_index(value)) {
    refuse(reader, key, value);
  }
  return reader.failed() ? 0 : static_cast<std::int32_t>(value);
}

std::vector<std::int32_t> read_indices(JsonReader& reader, std::string_view key) {
  std::vector<std::int32_t> indices;
  for (const std::int64_t value : reader.integers(key)) {
    if (!is_index(value)) {
      refuse(reader, key, value);
      return {};
    }
    indices.push_back(static_cast<std::int32_t>(value));
  }
  return indices;
}

}  // namespace stagewright
