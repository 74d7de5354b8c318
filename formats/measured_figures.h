#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "formats/measured_record.h"

namespace stagewright {

/// Reads the sections `measured` and `derived` of a record whose run has been read.  Every figure
/// of the time (iteration time, tokens and samples per second, tokens per second and device,
/// TFLOP/s) must be the same within its rounding; a run that ended out of memory has none of them.
/// Faults go to `fault`, with the field's name.
void read_measured_figures(const nlohmann::json& record, MeasuredRecord& into, std::string& fault);

}  // namespace stagewright
