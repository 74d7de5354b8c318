#include "gui/models/scanline.h"

#include <algorithm>
#include <cmath>

namespace stagewright::gui {
namespace {

/// How much of one pixel column each paint covers.
class Column {
 public:
  explicit Column(const PaintTable& paints) : paints_(paints) {}

  void add(std::uint8_t paint, double share) {
    if (cover_[paint] == 0) {
      used_[count_++] = paint;
    }
    cover_[paint] += share;
    total_ += share;
  }

  void flush(std::uint32_t& pixel) {
    if (count_ == 0) {
      return;
    }
    std::uint8_t most = used_[0];
    for (std::size_t i = 0; i < count_; ++i) {
      if (cover_[used_[i]] > cover_[most]) {
        most = used_[i];
      }
    }
    pixel = blend(pixel, paints_[most], std::min(total_, 1.0));
    for (std::size_t i = 0; i < count_; ++i) {
      cover_[used_[i]] = 0;
    }
    count_ = 0;
    total_ = 0;
  }

 private:
  const PaintTable& paints_;
  std::array<double, 256> cover_{};
  std::array<std::uint8_t, 256> used_{};
  std::size_t count_ = 0;
  double total_ = 0;
};

/// The first box that ends inside of the window or behind it.
std::size_t first_in(const LaneBoxes& boxes, const TimeWindow& window) {
  const auto first = std::upper_bound(
      boxes.end.begin(), boxes.end.end(), window.start, [](double time, std::int64_t end) {
        return time < static_cast<double>(end);
      });
  return static_cast<std::size_t>(first - boxes.end.begin());
}

std::uint32_t channel(std::uint32_t under, std::uint32_t over, std::uint32_t share, int shift) {
  const std::uint32_t a = (under >> shift) & 0xFFU;
  const std::uint32_t b = (over >> shift) & 0xFFU;
  return ((a * (256 - share) + b * share + 128) >> 8U) << shift;
}

}  // namespace

std::uint32_t blend(std::uint32_t under, std::uint32_t over, double share) {
  const auto weight = static_cast<std::uint32_t>(std::lround(share * 256));
  if (weight >= 256) {
    return over | 0xFF000000U;
  }
  return 0xFF000000U | channel(under, over, weight, 16) | channel(under, over, weight, 8) |
         channel(under, over, weight, 0);
}

void draw_lane(const LaneBoxes& boxes,
               const TimeWindow& window,
               const PaintTable& paints,
               std::span<std::uint32_t> line) {
  const auto width = static_cast<double>(line.size());
  if (line.empty() || window.length <= 0) {
    return;
  }
  const double per_time = width / window.length;
  Column column(paints);
  std::size_t at = 0;  // the column that `column` collects for
  const auto move_to = [&](std::size_t x) {
    if (x != at) {
      column.flush(line[at]);
      at = x;
    }
  };
  for (std::size_t i = first_in(boxes, window); i < boxes.start.size(); ++i) {
    const double left =
        std::max(0.0, (static_cast<double>(boxes.start[i]) - window.start) * per_time);
    if (left >= width) {
      break;
    }
    const double right =
        std::min(width, (static_cast<double>(boxes.end[i]) - window.start) * per_time);
    if (right <= left) {
      continue;
    }
    const auto x0 = static_cast<std::size_t>(left);
    const auto x1 = std::min(static_cast<std::size_t>(right), line.size() - 1);
    move_to(x0);
    if (x0 == x1) {
      column.add(boxes.paint[i], right - left);
      continue;
    }
    column.add(boxes.paint[i], static_cast<double>(x0 + 1) - left);
    column.flush(line[x0]);
    std::fill(line.begin() + static_cast<std::ptrdiff_t>(x0) + 1,
              line.begin() + static_cast<std::ptrdiff_t>(x1),
              paints[boxes.paint[i]] | 0xFF000000U);
    at = x1;
    if (right > static_cast<double>(x1)) {
      column.add(boxes.paint[i], right - static_cast<double>(x1));
    }
  }
  column.flush(line[at]);
}

void CoverStack::add_box(std::vector<float>& cover, double left, double right) {
  const auto x0 = static_cast<std::size_t>(left);
  const auto x1 = std::min(static_cast<std::size_t>(right), width_ - 1);
  if (x0 == x1) {
    cover[x0] += static_cast<float>(right - left);
    return;
  }
  cover[x0] += static_cast<float>(static_cast<double>(x0 + 1) - left);
  for (std::size_t x = x0 + 1; x < x1; ++x) {
    cover[x] += 1;
  }
  cover[x1] += static_cast<float>(right - static_cast<double>(x1));
}

void CoverStack::add(const LaneBoxes& boxes, const TimeWindow& window) {
  ++lanes_;
  const auto width = static_cast<double>(width_);
  if (width_ == 0 || window.length <= 0) {
    return;
  }
  const double per_time = width / window.length;
  for (std::size_t i = first_in(boxes, window); i < boxes.start.size(); ++i) {
    const double left =
        std::max(0.0, (static_cast<double>(boxes.start[i]) - window.start) * per_time);
    if (left >= width) {
      break;
    }
    const double right =
        std::min(width, (static_cast<double>(boxes.end[i]) - window.start) * per_time);
    if (right > left) {
      std::vector<float>& cover = cover_[boxes.paint[i]];
      cover.resize(width_);
      add_box(cover, left, right);
    }
  }
}

double CoverStack::share(std::uint8_t paint, std::size_t column) const {
  const std::vector<float>& cover = cover_[paint];
  return cover.empty() ? 0 : static_cast<double>(cover[column]) / static_cast<double>(lanes_);
}

std::vector<std::uint8_t> CoverStack::paints() const {
  std::vector<std::uint8_t> used;
  for (std::size_t paint = 0; paint < cover_.size(); ++paint) {
    if (!cover_[paint].empty()) {
      used.push_back(static_cast<std::uint8_t>(paint));
    }
  }
  return used;
}

void LineMean::add(std::span<const std::uint32_t> line) {
  for (std::size_t x = 0; x < sums_.size(); ++x) {
    sums_[x].red += (line[x] >> 16U) & 0xFFU;
    sums_[x].green += (line[x] >> 8U) & 0xFFU;
    sums_[x].blue += line[x] & 0xFFU;
  }
  ++lines_;
}

void LineMean::take(std::span<std::uint32_t> line) {
  for (std::size_t x = 0; x < sums_.size(); ++x) {
    const Sum& sum = sums_[x];
    line[x] = 0xFF000000U | ((sum.red / lines_) << 16U) | ((sum.green / lines_) << 8U) |
              (sum.blue / lines_);
    sums_[x] = {};
  }
  lines_ = 0;
}

}  // namespace stagewright::gui
