#pragma once

/// Draws the actions of a lane into one line of pixels.  Plain numbers: no window, no toolkit.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stagewright::gui {

/// A stretch of time on `width` pixel columns, in picoseconds.
struct TimeWindow {
  double start = 0;
  double length = 1;
  friend bool operator==(const TimeWindow&, const TimeWindow&) = default;

  [[nodiscard]] double end() const { return start + length; }
  [[nodiscard]] double to_pixel(double time, double width) const {
    return (time - start) / length * width;
  }
  [[nodiscard]] double to_time(double pixel, double width) const {
    return start + pixel / width * length;
  }
};

/// 0xAARRGGBB by paint number.
using PaintTable = std::array<std::uint32_t, 256>;

/// A lane's boxes: ascending and disjoint, with a paint number each.
struct LaneBoxes {
  std::span<const std::int64_t> start;
  std::span<const std::int64_t> end;
  std::span<const std::uint8_t> paint;
};

/// Lays the boxes over what is in `line`.  Every pixel column gets the paint that covers most of
/// it, blended with what was there by how much of the column is covered at all: idle time shows as
/// lightness at any zoom, and no box vanishes.
void draw_lane(const LaneBoxes& boxes,
               const TimeWindow& window,
               const PaintTable& paints,
               std::span<std::uint32_t> line);

/// What many lanes do at once: in every pixel column how much of their time each paint has.
class CoverStack {
 public:
  explicit CoverStack(std::size_t width) : width_(width) {}

  void add(const LaneBoxes& boxes, const TimeWindow& window);
  /// The share of a column, from 0 to 1, that a paint has of the lanes that were added.
  [[nodiscard]] double share(std::uint8_t paint, std::size_t column) const;
  [[nodiscard]] std::size_t lanes() const { return lanes_; }
  /// Paints that cover anything, ascending.
  [[nodiscard]] std::vector<std::uint8_t> paints() const;

 private:
  void add_box(std::vector<float>& cover, double left, double right);

  std::size_t width_;
  std::size_t lanes_ = 0;
  std::array<std::vector<float>, 256> cover_;  ///< by paint; empty: none
};

/// The mean of many lines, for rows that share pixels.
class LineMean {
 public:
  explicit LineMean(std::size_t width) : sums_(width) {}

  void add(std::span<const std::uint32_t> line);
  [[nodiscard]] bool empty() const { return lines_ == 0; }
  /// Writes the mean and starts again.  REQUIRES: a line was added.
  void take(std::span<std::uint32_t> line);

 private:
  struct Sum {
    std::uint32_t red = 0;
    std::uint32_t green = 0;
    std::uint32_t blue = 0;
  };
  std::vector<Sum> sums_;
  std::uint32_t lines_ = 0;
};

/// `over` laid on `under` by a share from 0 to 1.
[[nodiscard]] std::uint32_t blend(std::uint32_t under, std::uint32_t over, double share);

}  // namespace stagewright::gui
