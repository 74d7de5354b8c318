#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/memory/step_memory.h"

namespace stagewright {

/// Bytes by term of one device (zero terms left out), and the sums as allocator and driver show
/// them.
[[nodiscard]] nlohmann::ordered_json to_json(const StageMemory& memory);

/// "parameters 13.2 GB, ... : 79.9 GB of 85.1 GB": the terms above a percent of the sum, largest
/// first.
[[nodiscard]] std::string to_line(const StageMemory& memory);

}  // namespace stagewright
