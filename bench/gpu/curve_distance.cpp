#include "curve_distance.h"

#include <algorithm>
#include <cmath>

namespace stagewright::gpu_check {

double curve_distance(const std::vector<double>& actual, const std::vector<double>& expected) {
  double error = actual.size() == expected.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    const double here = std::abs(actual[i] - expected[i]) / std::abs(expected[i]);
    error = std::isnan(here) ? HUGE_VAL : std::max(error, here);
  }
  return error;
}

}  // namespace stagewright::gpu_check
