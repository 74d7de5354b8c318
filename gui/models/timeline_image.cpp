#include "gui/models/timeline_image.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QtGui/QPainter>

#include "core/base/check.h"
#include "formats/action_colours.h"
#include "gui/models/box_labels.h"

namespace stagewright::gui {
namespace {

using Line = std::span<std::uint32_t>;

class Drawing {
 public:
  Drawing(const TimelinePicture& picture, QImage& image)
      : picture_(picture),
        image_(image),
        store_(*picture.actions),
        paint_(picture.paint->numbers()),
        layout_(*picture.rows),
        line_(static_cast<std::size_t>(image.width())),
        mean_(line_.size()),
        gap_paints_(gap_paints(picture.colours)) {}

  void run() {
    if (layout_.rows.empty()) {
      return;
    }
    const double bottom = picture_.scroll + picture_.height;
    for (std::size_t i = *layout_.row_at(picture_.scroll);
         i < layout_.rows.size() && layout_.rows[i].y < bottom;
         ++i) {
      draw_row(layout_.rows[i]);
    }
    flush_mean();
  }

 private:
  [[nodiscard]] int pixel(double y) const {
    return static_cast<int>(std::lround((y - picture_.scroll) * picture_.pixel_ratio));
  }

  [[nodiscard]] std::uint32_t background_of(const LaidOutRow& row) const {
    return row.rank.value() % 2 == 0 ? picture_.colours.background : picture_.colours.other_rows;
  }

  void draw_row(const LaidOutRow& row) {
    const int top = pixel(row.y);
    const int bottom = pixel(row.bottom());
    if (row.kind == RowKind::kGroup) {
      draw_group(row, top, bottom - 1);
      return;
    }
    std::fill(line_.begin(), line_.end(), background_of(row));
    for (const LaneIndex lane : layout_.lanes_of(row)) {
      draw(lane);
    }
    if (bottom - top < 1 || row.height * picture_.pixel_ratio < 1) {
      // Several rows share this line of pixels.
      if (top != mean_y_) {
        flush_mean();
        mean_y_ = top;
      }
      mean_.add(line_);
      return;
    }
    const int gap = row.height >= kLeastHeightForText ? 1 : 0;
    fill(top, bottom - gap);
    draw_details(row, top, bottom - gap);
  }

  void flush_mean() {
    if (!mean_.empty()) {
      mean_.take(line_);
      fill(mean_y_, mean_y_ + 1);
    }
  }

  void draw(LaneIndex index) {
    const Lane& lane = store_.lanes[index];
    if (picture_.show_gaps && picture_.analysis != nullptr) {
      draw_gaps(picture_.analysis->gaps[index]);
    }
    draw_lane(boxes_of(lane), picture_.window, picture_.paints.fill, line_);
  }

  void draw_gaps(const std::vector<Gap>& gaps) {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> end;
    std::vector<std::uint8_t> paint;
    for (const Gap& gap : gaps) {
      start.push_back(gap.start);
      end.push_back(gap.end);
      paint.push_back(static_cast<std::uint8_t>(gap.cause));
    }
    draw_lane({start, end, paint}, picture_.window, gap_paints_, line_);
  }

  [[nodiscard]] LaneBoxes boxes_of(const Lane& lane) const {
    return {.start = part(store_.start, lane),
            .end = part(store_.end, lane),
            .paint = part(paint_, lane)};
  }

  template <class T>
  [[nodiscard]] static std::span<const T> part(const std::vector<T>& column, const Lane& lane) {
    return std::span(column).subspan(lane.begin, lane.end - lane.begin);
  }

  /// Stacked from the bottom: the share of the group's ranks that does each kind of work.
  void draw_group(const LaidOutRow& row, int top, int bottom) {
    flush_mean();
    CoverStack stack(line_.size());
    for (const LaneIndex index : layout_.lanes_of(row)) {
      const Lane& lane = store_.lanes[index];
      stack.add(boxes_of(lane), picture_.window);
    }
    std::fill(line_.begin(), line_.end(), picture_.colours.gutter);
    fill(top, bottom);
    const std::vector<std::uint8_t> paints = stack.paints();
    for (int x = 0; x < image_.width(); ++x) {
      double from = bottom;
      for (const std::uint8_t paint : paints) {
        const double to =
            from - stack.share(paint, static_cast<std::size_t>(x)) * (bottom - top - 1);
        draw_bar(x, to, from, picture_.paints.fill[paint]);
        from = to;
      }
    }
  }

  /// A stretch of a column of pixels; those at its ends by how much of them it covers.
  void draw_bar(int x, double top, double bottom, std::uint32_t colour) {
    const int first = std::max(0, static_cast<int>(std::floor(top)));
    const int last = std::min(image_.height() - 1, static_cast<int>(std::ceil(bottom)) - 1);
    for (int y = first; y <= last; ++y) {
      std::uint32_t& at = pixels(y)[x];
      at = blend(
          at, colour, std::clamp(std::min(bottom, y + 1.0) - std::max(top, 1.0 * y), 0.0, 1.0));
    }
  }

  void fill(int top, int bottom) {
    top = std::max(top, 0);
    bottom = std::min(bottom, image_.height());
    for (int y = top; y < bottom; ++y) {
      std::copy(line_.begin(), line_.end(), pixels(y));
    }
  }

  [[nodiscard]] std::uint32_t* pixels(int y) {
    return reinterpret_cast<std::uint32_t*>(image_.scanLine(y));
  }

  /// Edges, hatching, numbers and the critical path: what only boxes of several pixels have.
  void draw_details(const LaidOutRow& row, int top, int bottom) {
    if (bottom - top < 4) {
      return;
    }
    const double width = image_.width();
    for (const LaneIndex index : layout_.lanes_of(row)) {
      const Lane& lane = store_.lanes[index];
      for (ActionIndex i = store_.first_ending_after(lane, picture_.window.start); i < lane.end;
           ++i) {
        const double left = picture_.window.to_pixel(static_cast<double>(store_.start[i]), width);
        const double right = picture_.window.to_pixel(static_cast<double>(store_.end[i]), width);
        if (left >= width) {
          break;
        }
        if (right - left >= 3) {
          boxes_.push_back({.action = i,
                            .left = static_cast<int>(std::floor(left)),
                            .right = static_cast<int>(std::ceil(right)),
                            .top = top,
                            .bottom = bottom});
        }
      }
    }
    finish_boxes(row);
    boxes_.clear();
  }

  void finish_boxes(const LaidOutRow& row) {
    for (const Box& box : boxes_) {
      draw_edge(box);
      const ActionKind kind = store_.kind[box.action];
      if (kind == ActionKind::kRecompute || lane_use_of(kind) == LaneUse::kCollectives) {
        hatch(box);
      }
    }
    if (row.height >= kLeastHeightForText) {
      labels_.draw(picture_, boxes_, image_);
    }
    if (picture_.show_path && picture_.analysis != nullptr) {
      outline_path();
    }
  }

  /// A faint line on the left, so that equal neighbours are seen as two.
  void draw_edge(const Box& box) {
    if (box.left < 0 || box.left >= image_.width()) {
      return;
    }
    for (int y = std::max(box.top, 0); y < std::min(box.bottom, image_.height()); ++y) {
      std::uint32_t& at = pixels(y)[box.left];
      at = blend(at, picture_.colours.background, 0.55);
    }
  }

  void hatch(const Box& box) {
    constexpr int kPeriod = 6;
    for (int y = std::max(box.top, 0); y < std::min(box.bottom, image_.height()); ++y) {
      for (int x = std::max(box.left + 1, 0); x < std::min(box.right, image_.width()); ++x) {
        if ((x + y) % kPeriod == 0) {
          std::uint32_t& at = pixels(y)[x];
          at = blend(at, picture_.colours.background, 0.5);
        }
      }
    }
  }

  void outline_path() {
    QPainter painter(&image_);
    QPen pen(QColor::fromRgb(picture_.colours.path), 2 * picture_.pixel_ratio);
    pen.setJoinStyle(Qt::MiterJoin);
    painter.setPen(pen);
    for (const Box& box : boxes_) {
      if (picture_.analysis->is_on_path[box.action] != 0) {
        painter.drawRect(
            QRect(QPoint(box.left + 1, box.top + 1), QPoint(box.right - 2, box.bottom - 2)));
      }
    }
  }

  const TimelinePicture& picture_;
  QImage& image_;
  const ActionStore& store_;
  const std::vector<std::uint8_t>& paint_;
  const RowLayout& layout_;
  std::vector<std::uint32_t> line_;
  LineMean mean_;
  int mean_y_ = 0;
  PaintTable gap_paints_;
  std::vector<Box> boxes_;
  BoxLabels labels_;
};

}  // namespace

QImage draw_timeline(const TimelinePicture& picture) {
  SW_CHECK(picture.paint->numbers().size() == picture.actions->size(),
           "colours of the actions that are drawn");
  QImage image(std::max(1, static_cast<int>(std::lround(picture.width * picture.pixel_ratio))),
               std::max(1, static_cast<int>(std::lround(picture.height * picture.pixel_ratio))),
               QImage::Format_RGB32);
  if (image.isNull()) {
    return image;
  }
  image.fill(picture.colours.background);
  Drawing(picture, image).run();
  image.setDevicePixelRatio(picture.pixel_ratio);
  return image;
}

}  // namespace stagewright::gui
