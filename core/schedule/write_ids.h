#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace stagewright {

/// The numbers of ids, as read_ids() reads them.  Who calls it includes <nlohmann/json.hpp>.
template <class AnyId, class Json = nlohmann::ordered_json>
[[nodiscard]] Json write_ids(const std::vector<AnyId>& ids) {
  Json array = Json::array();
  for (const AnyId id : ids) {
    array.push_back(id.value());
  }
  return array;
}

}  // namespace stagewright
