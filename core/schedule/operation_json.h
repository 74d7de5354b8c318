#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/json_reader.h"
#include "core/schedule/operation.h"

namespace stagewright {

/// An operation as it stands in a schedule file; what has its default value is left out.
[[nodiscard]] nlohmann::ordered_json to_json(const Operation& op);
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<Operation>& ops);

/// The operations of the array at `key`; absent gives none.  Indices are not checked against their
/// tables.
[[nodiscard]] std::vector<Operation> read_operations(JsonReader& reader, std::string_view key);

}  // namespace stagewright
