#include "gui/models/scanline.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stagewright::gui {
namespace {

struct Boxes {
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> end;
  std::vector<std::uint8_t> paint;

  [[nodiscard]] LaneBoxes lane() const { return {start, end, paint}; }
};

/// Boxes and gaps of lengths that differ by a factor of a thousand.
Boxes random_boxes(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(0, 3);
  Boxes boxes;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    at += random() % 3 == 0 ? 0 : static_cast<std::int64_t>(std::pow(10, exponent(random)));
    boxes.start.push_back(at);
    at += static_cast<std::int64_t>(std::pow(10, exponent(random)));
    boxes.end.push_back(at);
    boxes.paint.push_back(static_cast<std::uint8_t>(random() % 4));
  }
  return boxes;
}

/// The share of a column that boxes cover, box by box.
double covered(const Boxes& boxes, double from, double to) {
  double sum = 0;
  for (std::size_t i = 0; i < boxes.start.size(); ++i) {
    sum += std::max(0.0,
                    std::min(to, static_cast<double>(boxes.end[i])) -
                        std::max(from, static_cast<double>(boxes.start[i])));
  }
  return sum / (to - from);
}

TEST(Scanline, CoversEveryColumnByTheBusyShare) {
  PaintTable black{};
  black.fill(0xFF000000);
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const Boxes boxes = random_boxes(seed, 400);
    const auto length = static_cast<double>(boxes.end.back());
    for (const std::size_t width : {37U, 500U, 1600U}) {
      for (const TimeWindow window : {TimeWindow{0, length},
                                      TimeWindow{0.31 * length, 0.07 * length},
                                      TimeWindow{-0.1 * length, 1.3 * length}}) {
        std::vector<std::uint32_t> line(width, 0xFFFFFFFF);
        draw_lane(boxes.lane(), window, black, line);
        for (std::size_t x = 0; x < width; ++x) {
          const double from = window.to_time(static_cast<double>(x), static_cast<double>(width));
          const double to = window.to_time(static_cast<double>(x + 1), static_cast<double>(width));
          const double expected = 255 * (1 - covered(boxes, from, to));
          ASSERT_NEAR(line[x] & 0xFFU, expected, 3)
              << "seed " << seed << " width " << width << " column " << x;
        }
      }
    }
  }
}

TEST(Scanline, GivesAColumnToThePaintThatCoversMost) {
  const Boxes boxes{{0, 10, 14}, {10, 14, 20}, {1, 2, 1}};
  PaintTable paints{};
  paints[1] = 0xFF0000FF;
  paints[2] = 0xFF00FF00;
  std::vector<std::uint32_t> line(2, 0xFFFFFFFF);
  draw_lane(boxes.lane(), {0, 20}, paints, line);
  // The second column has 4 of paint 2 and 6 of paint 1.
  EXPECT_EQ(line, (std::vector<std::uint32_t>{0xFF0000FF, 0xFF0000FF}));
}

TEST(Scanline, DrawsNothingOutsideOfTheWindowAndOfEmptyLanes) {
  PaintTable paints{};
  std::vector<std::uint32_t> line(8, 0xFF123456);
  const std::vector<std::uint32_t> before = line;
  draw_lane({}, {0, 10}, paints, line);
  const Boxes boxes{{100}, {200}, {0}};
  draw_lane(boxes.lane(), {0, 10}, paints, line);
  draw_lane(boxes.lane(), {300, 10}, paints, line);
  EXPECT_EQ(line, before);
}

TEST(CoverStack, HasTheShareOfEveryPaintInEveryColumn) {
  const Boxes a = random_boxes(4, 200);
  const Boxes b = random_boxes(5, 200);
  const auto length = static_cast<double>(std::max(a.end.back(), b.end.back()));
  constexpr std::size_t kWidth = 90;
  const TimeWindow window{0.2 * length, 0.5 * length};
  CoverStack stack(kWidth);
  stack.add(a.lane(), window);
  stack.add(b.lane(), window);
  for (std::size_t x = 0; x < kWidth; ++x) {
    const double from = window.to_time(static_cast<double>(x), kWidth);
    const double to = window.to_time(static_cast<double>(x + 1), kWidth);
    double sum = 0;
    for (const std::uint8_t paint : stack.paints()) {
      sum += stack.share(paint, x);
    }
    // Floats hold six digits.
    EXPECT_NEAR(sum, (covered(a, from, to) + covered(b, from, to)) / 2, 1e-4) << x;
  }
}

TEST(Scanline, AveragesLines) {
  LineMean mean(1);
  mean.add(std::vector<std::uint32_t>{0xFF000000});
  mean.add(std::vector<std::uint32_t>{0xFF806040});
  std::vector<std::uint32_t> line(1);
  mean.take(line);
  EXPECT_EQ(line[0], 0xFF403020);
  EXPECT_TRUE(mean.empty());
}

}  // namespace
}  // namespace stagewright::gui
