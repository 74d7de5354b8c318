#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/json_reader.h"

namespace stagewright {

/// An integer of 0 .. 2^31 - 1, or 0 after the first error.
[[nodiscard]] std::int32_t read_index(JsonReader& reader, std::string_view key);
/// A list of such integers; absent gives an empty one.
[[nodiscard]] std::vector<std::int32_t> read_indices(JsonReader& reader, std::string_view key);

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
  for (const std::int32_t value : read_indices(reader, key)) {
    ids.emplace_back(value);
  }
  return ids;
}

}  // namespace stagewright
