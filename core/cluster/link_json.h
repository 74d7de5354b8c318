#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/base/json_reader.h"
#include "core/cluster/device.h"

namespace stagewright {

/// The object that describes a link level in device and cluster files:
///   {"name": "nvlink4", "bandwidth": "450 GB/s", "latency": "3 us", "efficiency": 0.81}
/// Errors are the reader's.
[[nodiscard]] LinkSpec read_link(JsonReader& reader);
[[nodiscard]] nlohmann::ordered_json to_json(const LinkSpec& link);

/// The number at `key` that must lie in (0, 1]; errors are the reader's.
[[nodiscard]] double read_share(JsonReader& reader, std::string_view key);

}  // namespace stagewright
