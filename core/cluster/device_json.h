#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/base/json_reader.h"
#include "core/cluster/device.h"

namespace stagewright {

/// The object that describes a device type, alone in a device file or inside a cluster file.
/// Errors are the reader's.
[[nodiscard]] DeviceType read_device(JsonReader& reader);
[[nodiscard]] nlohmann::ordered_json to_json(const DeviceType& device);

}  // namespace stagewright
