#include "gui/models/box_labels.h"

#include <algorithm>
#include <string>

#include <QtGui/QFont>
#include <QtGui/QFontMetrics>
#include <QtGui/QPainter>

#include "formats/action_colours.h"
#include "gui/models/scanline.h"
#include "gui/models/timeline_image.h"

namespace stagewright::gui {
namespace {

constexpr std::string_view kCharacters = "0123456789FBIWRTCOL";

std::string text_for(const ActionStore& store, ActionIndex action, bool with_letter) {
  const ActionKind kind = store.kind[action];
  std::string text;
  if (with_letter) {
    text += look_of(kind).letter;
  }
  if (is_compute(kind)) {
    text += std::to_string(store.micro_batch[action]);
  }
  return text;
}

}  // namespace

void BoxLabels::prepare(int height) {
  if (height == for_height_) {
    return;
  }
  for_height_ = height;
  QFont font(QStringLiteral("DejaVu Sans"));
  font.setStyleHint(QFont::SansSerif);
  font.setPixelSize(std::clamp(height * 11 / 20, 7, 14 * std::max(1, height / 24)));
  const QFontMetrics metrics(font);
  height_ = metrics.height();
  for (const char c : kCharacters) {
    const int width = metrics.horizontalAdvance(QLatin1Char(c));
    QImage image(std::max(1, width), height_, QImage::Format_Grayscale8);
    image.fill(0);
    QPainter painter(&image);
    painter.setFont(font);
    painter.setPen(Qt::white);
    painter.drawText(0, metrics.ascent(), QString(QLatin1Char(c)));
    painter.end();
    Glyph& glyph = glyphs_[static_cast<unsigned char>(c)];
    glyph.width = image.width();
    glyph.cover.clear();
    for (int y = 0; y < height_; ++y) {
      const uchar* line = image.constScanLine(y);
      glyph.cover.insert(glyph.cover.end(), line, line + glyph.width);
    }
  }
}

int BoxLabels::width_of(std::string_view text) const {
  int width = 0;
  for (const char c : text) {
    width += glyphs_[static_cast<unsigned char>(c) & 0x7FU].width;
  }
  return width;
}

void BoxLabels::write(std::string_view text,
                      const Box& box,
                      std::uint32_t colour,
                      QImage& image) const {
  // Of a box that is cut by the border the visible part is labelled.
  const int left = std::max(box.left, 0);
  const int right = std::min(box.right, image.width());
  int x0 = left + (right - left - width_of(text)) / 2;
  const int y0 = box.top + (box.bottom - box.top - height_) / 2;
  for (const char c : text) {
    const Glyph& glyph = glyphs_[static_cast<unsigned char>(c) & 0x7FU];
    for (int y = std::max({0, -y0, box.top - y0});
         y < height_ && y0 + y < image.height() && y0 + y < box.bottom;
         ++y) {
      auto* line = reinterpret_cast<std::uint32_t*>(image.scanLine(y0 + y));
      for (int x = 0; x < glyph.width; ++x) {
        const std::uint8_t cover = glyph.cover[static_cast<std::size_t>(y * glyph.width + x)];
        if (cover != 0 && x0 + x >= left && x0 + x < right) {
          line[x0 + x] = blend(line[x0 + x], colour, cover / 255.0);
        }
      }
    }
    x0 += glyph.width;
  }
}

void BoxLabels::draw(const TimelinePicture& picture, std::span<const Box> boxes, QImage& image) {
  constexpr int kMargin = 2;
  for (const Box& box : boxes) {
    const int width = std::min(box.right, image.width()) - std::max(box.left, 0);
    const LaneUse use = lane_use_of(picture.actions->kind[box.action]);
    if (width < 6 || use != LaneUse::kCompute) {
      continue;
    }
    prepare(box.bottom - box.top);
    std::string text = text_for(*picture.actions, box.action, true);
    // By the widest letter, so that boxes of one width are labelled alike.
    const int with_letter =
        width_of(text) - width_of(text.substr(0, 1)) + width_of("W") + 2 * kMargin;
    if (with_letter > width) {
      text = text_for(*picture.actions, box.action, false);
    }
    if (text.empty() || width_of(text) + kMargin > width) {
      continue;
    }
    const bool white = picture.paints.white_text[picture.paint->numbers()[box.action]];
    write(text, box, white ? 0xFFFFFFFF : 0xFF000000, image);
  }
}

}  // namespace stagewright::gui
