#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/base/json_reader.h"
#include "core/schedule/rank_program.h"

namespace stagewright {

/// A rank program as it stands in a schedule file: its actions are one text of tokens
/// ("0F0 0SEND_F0@0 ...").
[[nodiscard]] nlohmann::ordered_json to_json(const RankProgram& program);

/// Indices are not checked against their tables.
[[nodiscard]] RankProgram read_program(JsonReader& reader);

}  // namespace stagewright
