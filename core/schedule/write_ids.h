#pragma once

#include <vector>

#include <nlohmann/json.hpp>

namespace stagewright {

/// The numbers of ids, as read_ids() reads them.
template <class AnyId>
[[nodiscard]] nlohmann::ordered_json write_ids(const std::vector<AnyId>& ids) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const AnyId id : ids) {
    array.push_back(id.value());
  }
  return array;
}

}  // namespace stagewright
