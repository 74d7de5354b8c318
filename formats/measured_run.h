#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "formats/measured_record.h"

namespace stagewright {

/// Reads the sections `model`, `cluster` and `plan` of a record: what was trained, on what and how.
/// The first field that is missing, mistyped, beyond its range or in contradiction to others goes
/// to `fault`, with its name.
void read_measured_run(const nlohmann::json& record, MeasuredRecord& into, std::string& fault);

}  // namespace stagewright
