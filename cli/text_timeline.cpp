#include "cli/text_timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "formats/action_colours.h"

namespace stagewright {
namespace {

std::int64_t ps(TimePoint time) {
  return time.time_since_epoch().count();
}

/// Which stretch of time a column stands for.
struct Scale {
  int columns = 1;
  double columns_per_ps = 1;
};

/// Letter and micro-batch of the widest label.
int label_width(const Timeline& timeline) {
  std::int32_t largest = 0;
  for (const TimelineRow& row : timeline.rows) {
    for (const TimelineBox& box : row.boxes) {
      largest = std::max(largest, box.action.micro_batch.value());
    }
  }
  return 1 + static_cast<int>(std::to_string(largest).size());
}

Scale choose_scale(const Timeline& timeline, int available) {
  std::int64_t common = timeline.length.count();
  std::int64_t shortest = common;
  for (const TimelineRow& row : timeline.rows) {
    for (const TimelineBox& box : row.boxes) {
      common = std::gcd(common, std::gcd(ps(box.start), ps(box.end)));
      if (box.end > box.start) {
        shortest = std::min(shortest, (box.end - box.start).count());
      }
    }
  }
  const std::int64_t length = timeline.length.count();
  if (length == 0) {
    return {.columns = 1, .columns_per_ps = 0};
  }
  if (length / common > available) {
    return {.columns = available,
            .columns_per_ps = static_cast<double>(available) / static_cast<double>(length)};
  }
  // As wide as labels need, no wider.
  const std::int64_t units = length / common;
  const std::int64_t wanted = (label_width(timeline) * common + shortest - 1) / shortest;
  const std::int64_t per_unit = std::clamp<std::int64_t>(wanted, 1, available / units);
  return {.columns = static_cast<int>(units * per_unit),
          .columns_per_ps = static_cast<double>(per_unit) / static_cast<double>(common)};
}

/// For each column the box that takes most of it; nothing where more of it is idle.
std::vector<const TimelineBox*> owners(const TimelineRow& row, const Scale& scale) {
  const auto columns = static_cast<std::size_t>(scale.columns);
  std::vector<const TimelineBox*> owner(columns, nullptr);
  std::vector<double> most(columns, 0);
  std::vector<double> idle(columns, 1);
  for (const TimelineBox& box : row.boxes) {
    const double begin = static_cast<double>(ps(box.start)) * scale.columns_per_ps;
    const double end = static_cast<double>(ps(box.end)) * scale.columns_per_ps;
    const auto last = std::min(static_cast<std::size_t>(std::ceil(end)), columns);
    for (auto c = static_cast<std::size_t>(begin); c < last; ++c) {
      const auto left = static_cast<double>(c);
      const double share = std::min(end, left + 1) - std::max(begin, left);
      idle[c] -= share;
      if (share > most[c]) {
        most[c] = share;
        owner[c] = &box;
      }
    }
  }
  constexpr double kRounding = 1e-6;
  for (std::size_t c = 0; c < columns; ++c) {
    if (most[c] < idle[c] - kRounding || most[c] < kRounding) {
      owner[c] = nullptr;
    }
  }
  return owner;
}

char letter_of(const Action& action, std::int32_t chunk) {
  const char letter = look_of(action.kind).letter;
  constexpr char kToLower = 'a' - 'A';
  return chunk % 2 == 0 ? letter : static_cast<char>(letter + kToLower);
}

/// What to write into a box of that many columns, and whether the micro-batch is in it.
struct Label {
  std::string text;
  bool whole = true;
};

Label label_of(const TimelineBox& box, std::size_t width) {
  const char letter = letter_of(box.action, box.chunk);
  if (box.action.kind == ActionKind::kOptimizerStep) {
    return {std::string(1, letter)};
  }
  std::string text = fmt::format("{}{}", letter, box.action.micro_batch.value());
  if (box.paired) {
    const char other = look_of(box.paired->kind).letter;
    std::string both = fmt::format("{}+{}{}", text, other, box.paired->micro_batch.value());
    if (both.size() <= width) {
      return {std::move(both)};
    }
    return {width >= 3 ? fmt::format("{}+{}", letter, other) : std::string(1, letter), false};
  }
  return text.size() <= width ? Label{std::move(text)} : Label{std::string(1, letter), false};
}

/// The nearest of the 6 x 6 x 6 colours among the 256 of terminals.
int terminal_colour(std::uint32_t rgb) {
  constexpr std::array<int, 6> kLevels{0, 95, 135, 175, 215, 255};
  int index = 16;
  int weight = 36;
  for (const int shift : {16, 8, 0}) {
    const int value = static_cast<int>(rgb >> shift & 0xFFU);
    const auto nearest = std::min_element(kLevels.begin(), kLevels.end(), [value](int a, int b) {
      return std::abs(a - value) < std::abs(b - value);
    });
    index += weight * static_cast<int>(nearest - kLevels.begin());
    weight /= 6;
  }
  return index;
}

class Writer {
 public:
  Writer(const Timeline& timeline, const TimeUnit& unit, const TextTimelineOptions& options)
      : timeline_(timeline), unit_(unit), options_(options) {
    const std::int32_t largest = timeline.rows.empty() ? 0 : timeline.rows.back().rank.value();
    margin_ = std::string("rank ").size() + std::to_string(largest).size() + 1;
    constexpr int kFrame = 10;  // "|" and "| 100.0 %"
    scale_ =
        choose_scale(timeline, std::max(options.columns - static_cast<int>(margin_) - kFrame, 10));
  }

  std::string run() && {
    ruler();
    const std::size_t all = timeline_.rows.size();
    const std::size_t shown = std::min(all, static_cast<std::size_t>(options_.most_rows));
    for (std::size_t i = 0; i < shown; ++i) {
      row(timeline_.rows[shown == all ? i : i * (all - 1) / (shown - 1)]);
    }
    legend();
    if (shown < all) {
      text_ += fmt::format("{} of {} ranks are shown\n", shown, all);
    }
    if (whole_labels_ < labels_) {
      text_ += fmt::format(
          "{} of {} boxes are too narrow for their micro-batch; a larger --width, or --svg, shows "
          "more\n",
          labels_ - whole_labels_,
          labels_);
    }
    return std::move(text_);
  }

 private:
  void ruler() {
    const int most = std::max(1, scale_.columns / 8);
    std::string line = fmt::format("{:<{}}", unit_.name.empty() ? "time" : unit_.name, margin_ + 1);
    for (const double mark : axis_marks(timeline_.length, unit_, most)) {
      const double columns = mark * unit_.seconds * 1e12 * scale_.columns_per_ps;
      const auto place = margin_ + static_cast<std::size_t>(std::llround(columns));
      if (line.size() < place + 1) {
        line.resize(place + 1, ' ');
      }
      line += fmt::format("{:.6g}", mark);
    }
    text_ += line + "\n";
  }

  void row(const TimelineRow& row) {
    text_ += fmt::format("{:<{}}{}",
                         fmt::format("rank {}", row.rank.value()),
                         margin_,
                         options_.unicode ? "│" : "|");
    const std::vector<const TimelineBox*> owner = owners(row, scale_);
    for (std::size_t begin = 0; begin < owner.size();) {
      std::size_t end = begin + 1;
      while (end < owner.size() && owner[end] == owner[begin]) {
        ++end;
      }
      if (owner[begin] == nullptr) {
        idle(end - begin);
      } else {
        box(*owner[begin], end - begin);
      }
      begin = end;
    }
    const double length = to_seconds(timeline_.length);
    text_ += fmt::format("{} {:5.1f} %\n",
                         options_.unicode ? "│" : "|",
                         length > 0 ? 100 * (1 - to_seconds(row.busy) / length) : 0.0);
  }

  void idle(std::size_t columns) {
    idle_ = true;
    for (std::size_t i = 0; i < columns; ++i) {
      text_ += options_.unicode ? "·" : ".";
    }
  }

  void box(const TimelineBox& box, std::size_t columns) {
    kinds_.insert(box.action.kind);
    if (box.paired) {
      kinds_.insert(box.paired->kind);
    }
    const Label label = label_of(box, columns);
    ++labels_;
    whole_labels_ += label.whole ? 1 : 0;
    if (!options_.colour) {
      text_ += label.text;
      for (std::size_t i = label.text.size(); i < columns; ++i) {
        text_ += options_.unicode ? "─" : "-";
      }
      return;
    }
    const ActionLook& look = look_of(box.action.kind);
    text_ += fmt::format("\033[48;5;{};38;5;{}m{:<{}}\033[0m",
                         terminal_colour(box.chunk % 2 == 0 ? look.fill : look.second_fill),
                         look.white_text ? 231 : 16,
                         label.text,
                         columns);
  }

  void legend() {
    std::string line;
    for (const ActionKind kind : kinds_) {
      line += fmt::format(
          "{}{} {}", line.empty() ? "" : ", ", look_of(kind).letter, look_of(kind).meaning);
    }
    if (idle_) {
      line += fmt::format("{}{} idle", line.empty() ? "" : ", ", options_.unicode ? "·" : ".");
    }
    text_ += line + "; number: micro-batch; right: idle share\n";
    if (timeline_.chunks > 1) {
      text_ += timeline_.chunks == 2 ? "lower case: the second stage of a rank\n"
                                     : "lower case: every second stage of a rank\n";
    }
  }

  const Timeline& timeline_;
  const TimeUnit& unit_;
  const TextTimelineOptions& options_;
  std::size_t margin_ = 0;
  Scale scale_;
  std::string text_;
  std::set<ActionKind> kinds_;
  bool idle_ = false;
  std::size_t labels_ = 0;
  std::size_t whole_labels_ = 0;
};

}  // namespace

std::string to_text(const Timeline& timeline,
                    const TimeUnit& unit,
                    const TextTimelineOptions& options) {
  return Writer(timeline, unit, options).run();
}

}  // namespace stagewright
