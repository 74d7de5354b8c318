#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/ids.h"
#include "core/base/json_reader.h"

namespace stagewright {

/// An integer of 0 .. 2^31 - 1, or 0 after the first error.
[[nodiscard]] inline std::int32_t read_index(JsonReader& reader, std::string_view key) {
  const std::int64_t value = reader.integer(key);
  if (!reader.failed() && (value < 0 || value > std::numeric_limits<std::int32_t>::max())) {
    reader.reject(key, fmt::format("is {}; it must lie in 0 .. 2^31 - 1", value));
  }
  return reader.failed() ? 0 : static_cast<std::int32_t>(value);
}

template <class AnyId>
[[nodiscard]] AnyId read_id(JsonReader& reader, std::string_view key) {
  return AnyId(read_index(reader, key));
}

template <class AnyId>
[[nodiscard]] std::optional<AnyId> read_id_if(JsonReader& reader, std::string_view key) {
  return reader.has(key) ? std::optional(read_id<AnyId>(reader, key)) : std::nullopt;
}

template <class AnyId>
[[nodiscard]] std::vector<AnyId> read_ids(JsonReader& reader, std::string_view key) {
  std::vector<AnyId> ids;
  for (const std::int64_t value : reader.integers(key)) {
    if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) {
      reader.reject(key, fmt::format("{} must lie in 0 .. 2^31 - 1", value));
      return {};
    }
    ids.emplace_back(static_cast<std::int32_t>(value));
  }
  return ids;
}

}  // namespace stagewright
