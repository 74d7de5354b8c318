#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <QtGui/QImage>

#include "gui/models/action_store.h"

namespace stagewright::gui {

struct TimelinePicture;

/// A box of several pixels on an image, in device pixels.
struct Box {
  ActionIndex action = 0;
  int left = 0;
  int right = 0;
  int top = 0;
  int bottom = 0;
};

/// Writes what boxes are: the micro-batch where it fits, with the letter of the kind where that
/// does too.  Digits come from pictures made once for a height: thousands of numbers cost a
/// millisecond.
class BoxLabels {
 public:
  void draw(const TimelinePicture& picture, std::span<const Box> boxes, QImage& image);

 private:
  struct Glyph {
    int width = 0;
    std::vector<std::uint8_t> cover;  ///< width x height_
  };
  void prepare(int height);
  [[nodiscard]] int width_of(std::string_view text) const;
  void write(std::string_view text, const Box& box, std::uint32_t colour, QImage& image) const;

  int for_height_ = 0;  ///< of the rows
  int height_ = 0;
  std::array<Glyph, 128> glyphs_;
};

}  // namespace stagewright::gui
