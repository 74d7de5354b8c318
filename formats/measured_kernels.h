#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/operation.h"

namespace stagewright {

/// An operation that somebody timed alone on a device.
struct MeasuredKernel {
  std::string dataset;
  std::string device;  ///< canonical name or alias of profiles/hardware
  Operation op;
  double seconds = 0;
  friend bool operator==(const MeasuredKernel&, const MeasuredKernel&) = default;
};

/// One series a line (docs/formats/measured_kernels.md): a JSON object with dataset, source,
/// device, operation ("gemm"), dtype, flags, and points whose columns are sizes of OpShape and,
/// last, the achieved TFLOP/s.  Fails with the line where a series or point makes no sense.
[[nodiscard]] Result<std::vector<MeasuredKernel>> parse_measured_kernels(std::string_view text,
                                                                         std::string_view where);

}  // namespace stagewright
