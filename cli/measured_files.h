#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "formats/measured_kernels.h"
#include "formats/measured_record.h"

namespace stagewright {

/// The records of all files, in order.
[[nodiscard]] Result<std::vector<RecordLine>> read_records(const std::vector<std::string>& paths);
/// The kernels of all files, in order.
[[nodiscard]] Result<std::vector<MeasuredKernel>> read_kernels(
    const std::vector<std::string>& paths);

}  // namespace stagewright
