#pragma once

#include <string>
#include <vector>

namespace stagewright {

/// A point of a plot and how it is drawn.
struct PlotPoint {
  double x = 0;
  double y = 0;
  char mark = 'o';
};

/// Points in a frame of characters, the smallest x at the left and the smallest y at the bottom,
/// with the ranges along the sides.  Where points share a place the last one is seen.  Empty
/// without points.  REQUIRES: finite values.
[[nodiscard]] std::string plot(const std::vector<PlotPoint>& points,
                               const std::string& x_name,
                               const std::string& y_name);

}  // namespace stagewright
