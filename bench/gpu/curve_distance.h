#pragma once

#include <vector>

namespace stagewright::gpu_check {

/// The largest distance of two curves as a part of the expected values; infinite where one has
/// another length or holds what is no number.
[[nodiscard]] double curve_distance(const std::vector<double>& actual,
                                    const std::vector<double>& expected);

}  // namespace stagewright::gpu_check
