#include "sim/analysis/order_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// At a share of the way through the sorted values.
Duration quantile(const std::vector<Duration>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double between = position - static_cast<double>(below);
  const auto step = static_cast<double>((sorted[above] - sorted[below]).count());
  return sorted[below] + Duration(std::llround(between * step));
}

}  // namespace

Duration median(std::vector<Duration> values) {
  SW_CHECK(!values.empty(), "something to take the median of");
  std::ranges::sort(values);
  return quantile(values, 0.5);
}

Duration half_quartile_distance(std::vector<Duration> values) {
  SW_CHECK(!values.empty(), "something to take quartiles of");
  std::ranges::sort(values);
  return (quantile(values, 0.75) - quantile(values, 0.25)) / 2;
}

}  // namespace stagewright
