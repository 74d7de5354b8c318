#include "cli/curve_plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace stagewright {
namespace {

constexpr std::size_t kWidth = 64;
constexpr std::size_t kHeight = 16;

/// Where a value stands among `places` from the low to the high end of a range.
std::size_t place_of(double value, double low, double high, std::size_t places) {
  if (high <= low) {
    return 0;
  }
  return static_cast<std::size_t>(
      std::lround((value - low) / (high - low) * static_cast<double>(places - 1)));
}

}  // namespace

std::string plot(const std::vector<PlotPoint>& points,
                 const std::string& x_name,
                 const std::string& y_name) {
  if (points.empty()) {
    return {};
  }
  const auto [left, right] =
      std::minmax_element(points.begin(), points.end(), [](const PlotPoint& a, const PlotPoint& b) {
        return a.x < b.x;
      });
  const auto [low, high] =
      std::minmax_element(points.begin(), points.end(), [](const PlotPoint& a, const PlotPoint& b) {
        return a.y < b.y;
      });
  std::vector<std::string> rows(kHeight, std::string(kWidth, ' '));
  for (const PlotPoint& point : points) {
    const std::size_t row = kHeight - 1 - place_of(point.y, low->y, high->y, kHeight);
    rows[row][place_of(point.x, left->x, right->x, kWidth)] = point.mark;
  }
  const std::string top = fmt::format("{:.5g}", high->y);
  const std::string bottom = fmt::format("{:.5g}", low->y);
  const std::size_t margin = std::max(top.size(), bottom.size());
  std::string text = y_name + "\n";
  for (std::size_t row = 0; row < kHeight; ++row) {
    const std::string& label = row == 0 ? top : row + 1 == kHeight ? bottom : std::string();
    text += fmt::format("{:>{}} |{}", label, margin, rows[row]);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  const std::string begin = fmt::format("{:.4g}", left->x);
  const std::string end = fmt::format("{:.4g}", right->x);
  text += fmt::format("{:>{}} +{}\n", "", margin, std::string(kWidth, '-'));
  text += fmt::format("{:>{}}  {}{:>{}} {}\n",
                      "",
                      margin,
                      begin,
                      end,
                      kWidth - std::min(kWidth, begin.size()),
                      x_name);
  return text;
}

}  // namespace stagewright
