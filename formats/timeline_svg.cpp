#include "formats/timeline_svg.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "formats/action_colours.h"

namespace stagewright {
namespace {

// Pixels.
constexpr double kRowHeight = 26;
constexpr double kRowGap = 8;
constexpr double kMessageHeight = 4;
constexpr double kTop = 102;   ///< title, legend and axis
constexpr double kRight = 76;  ///< idle shares
constexpr double kBottom = 16;
constexpr double kDigit = 6.7;    ///< width of a digit of 11 px
constexpr double kNarrowest = 2;  ///< of a box that is drawn for itself

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // Control characters have no place in XML.
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

std::string name_of_action(const Action& action) {
  return action.kind == ActionKind::kOptimizerStep ? std::string(look_of(action.kind).meaning)
                                                   : to_string(action);
}

/// A typical box holds its letter and number where the picture does not get wider than screens
/// scroll comfortably.
double choose_width(const Timeline& timeline) {
  constexpr double kLeast = 1000;
  constexpr double kMost = 4000;
  constexpr double kTypicalBox = 24;
  std::vector<Duration> lengths;
  for (const TimelineRow& row : timeline.rows) {
    for (const TimelineBox& box : row.boxes) {
      if (box.end > box.start) {
        lengths.push_back(box.end - box.start);
      }
    }
  }
  if (lengths.empty()) {
    return kLeast;
  }
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return std::clamp(kTypicalBox * to_seconds(timeline.length) / to_seconds(*middle), kLeast, kMost);
}

class SvgWriter {
 public:
  SvgWriter(const Timeline& timeline,
            const TimeUnit& unit,
            std::string_view title,
            std::string_view subtitle)
      : timeline_(timeline),
        unit_(unit),
        title_(title),
        subtitle_(subtitle),
        chart_width_(choose_width(timeline)) {
    const std::int32_t largest = timeline.rows.empty() ? 0 : timeline.rows.back().rank.value();
    left_ = 52 + kDigit * static_cast<double>(std::to_string(largest).size());
    const bool messages = std::any_of(timeline.rows.begin(),
                                      timeline.rows.end(),
                                      [](const TimelineRow& row) { return !row.messages.empty(); });
    row_step_ = kRowHeight + kRowGap + (messages ? kMessageHeight + 2 : 0);
    const double length = to_seconds(timeline.length);
    pixels_per_second_ = length > 0 ? chart_width_ / length : 0;
  }

  std::string write() && {
    head();
    axis();
    for (std::size_t i = 0; i < timeline_.rows.size(); ++i) {
      row(timeline_.rows[i], kTop + static_cast<double>(i) * row_step_);
    }
    legend();
    add("</svg>\n");
    return fmt::to_string(text_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(fmt::appender(text_), form, std::forward<Values>(values)...);
  }

  [[nodiscard]] double x(TimePoint time) const {
    return left_ + to_seconds(time.time_since_epoch()) * pixels_per_second_;
  }
  [[nodiscard]] double bottom() const {
    return kTop + static_cast<double>(timeline_.rows.size()) * row_step_;
  }
  [[nodiscard]] std::string time_text(Duration time) const {
    return fmt::format(
        "{:.6g}{}{}", to_seconds(time) / unit_.seconds, unit_.name.empty() ? "" : " ", unit_.name);
  }

  void head() {
    const double width = left_ + chart_width_ + kRight;
    const double height = bottom() + kBottom;
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )"
        R"(viewBox="0 0 {0:.0f} {1:.0f}" role="img" )",
        width,
        height);
    add(R"(font-family="DejaVu Sans, Verdana, sans-serif" font-size="11">)"
        "\n<title>{}</title>\n",
        escaped(title_));
    add("<style>"
        "text{{fill:#222}}.n{{text-anchor:middle}}.e{{text-anchor:end}}.w{{fill:#fff}}"
        ".t{{font-size:15px;font-weight:bold}}.b{{stroke:#fff;stroke-width:0.7}}"
        ".i{{fill:url(#idle);stroke:#ccc}}.a{{fill:url(#again)}}"
        "</style>\n");
    add(R"(<defs><pattern id="idle" width="6" height="6" patternUnits="userSpaceOnUse">)"
        R"(<rect width="6" height="6" fill="#f4f4f4"/><path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" )"
        R"(stroke="#d9d9d9"/></pattern>)"
        R"(<pattern id="again" width="5" height="5" patternUnits="userSpaceOnUse">)"
        R"(<path d="M0 0L5 5M-1 4L1 6M4 -1L6 1" stroke="#222" stroke-opacity="0.35"/></pattern>)"
        "</defs>\n");
    add(R"(<rect width="{:.0f}" height="{:.0f}" fill="#fff"/>)"
        "\n",
        width,
        height);
    add(R"(<text class="t" x="12" y="24">{}</text>)"
        "\n",
        escaped(title_));
    add(R"(<text x="12" y="41">{}</text>)"
        "\n",
        escaped(subtitle_));
  }

  void axis() {
    const int most = std::max(2, static_cast<int>(chart_width_ / 70));
    add(R"(<text x="12" y="{:.1f}">{}</text>)"
        "\n",
        kTop - 10,
        unit_.name.empty() ? "time" : "time, " + escaped(unit_.name));
    for (const double mark : axis_marks(timeline_.length, unit_, most)) {
      const double place = left_ + mark * unit_.seconds * pixels_per_second_;
      add(R"(<path d="M{0:.1f} {1:.1f}V{2:.1f}" stroke="#bbb"/>)"
          R"(<text class="n" x="{0:.1f}" y="{3:.1f}">{4:.6g}</text>)"
          "\n",
          place,
          kTop - 6,
          bottom() - kRowGap,
          kTop - 10,
          mark);
    }
  }

  void row(const TimelineRow& row, double y) {
    add(R"(<text x="12" y="{:.1f}">rank {}</text>)"
        "\n",
        y + 17,
        row.rank.value());
    add(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.0f}" class="i"/>)"
        "\n",
        left_,
        y,
        chart_width_,
        kRowHeight);
    const Duration least =
        pixels_per_second_ > 0 ? from_seconds(kNarrowest / pixels_per_second_) : Duration{};
    for (const TimelineSpan& span : join_short(row.boxes, least)) {
      if (span.count == 1) {
        box(row.boxes[span.first], y);
      } else {
        joined(span, y);
      }
    }
    messages(row, y + kRowHeight + 2, least);
    const double length = to_seconds(timeline_.length);
    add(R"(<text x="{:.1f}" y="{:.1f}">{:.1f} % idle</text>)"
        "\n",
        left_ + chart_width_ + 8,
        y + 17,
        length > 0 ? 100 * (1 - to_seconds(row.busy) / length) : 0.0);
  }

  void rectangle(double left, double top, double width, double height, std::uint32_t fill) {
    // A border would hide narrow boxes.
    constexpr double kLeastWithBorder = 5;
    add(R"(<rect{} x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}" fill="#{:06x}"/>)",
        width < kLeastWithBorder ? "" : " class=\"b\"",
        left,
        top,
        width,
        height,
        fill);
  }

  void box(const TimelineBox& box, double y) {
    const double left = x(box.start);
    const double width = x(box.end) - left;
    std::string name = name_of_action(box.action);
    if (box.paired) {
      name += " with " + name_of_action(*box.paired);
    }
    add("<g><title>{}: {} to {}</title>",
        name,
        time_text(box.start.time_since_epoch()),
        time_text(box.end.time_since_epoch()));
    fill(box, left, y, width);
    label(box, left, y, width);
    add("</g>\n");
  }

  void fill(const TimelineBox& box, double left, double y, double width) {
    const auto colour = [&box](ActionKind kind) {
      const ActionLook& look = look_of(kind);
      return box.chunk % 2 == 0 ? look.fill : look.second_fill;
    };
    kinds_.insert(box.action.kind);
    rectangle(left, y, width, kRowHeight, colour(box.action.kind));
    if (box.paired) {
      kinds_.insert(box.paired->kind);
      rectangle(left, y + kRowHeight / 2, width, kRowHeight / 2, colour(box.paired->kind));
    } else if (box.action.kind == ActionKind::kBackward) {
      // Both halves in one.
      rectangle(left, y + kRowHeight - 5, width, 5, colour(ActionKind::kBackwardWeight));
    } else if (box.action.kind == ActionKind::kRecompute) {
      add(R"(<rect x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.0f}" class="a"/>)",
          left,
          y,
          width,
          kRowHeight);
    }
  }

  void label(const TimelineBox& box, double left, double y, double width) {
    if (!is_compute(box.action.kind)) {
      return;
    }
    const auto number = [&](const Action& action, double base) {
      std::string text = std::to_string(action.micro_batch.value());
      if (kDigit * static_cast<double>(text.size()) + 3 > width) {
        return;
      }
      const std::string longer = look_of(action.kind).letter + text;
      if (kDigit * static_cast<double>(longer.size()) + 6 <= width) {
        text = longer;
      }
      add(R"(<text class="n{}" x="{:.2f}" y="{:.1f}">{}</text>)",
          look_of(action.kind).white_text ? " w" : "",
          left + width / 2,
          base,
          text);
    };
    if (box.paired) {
      number(box.action, y + kRowHeight / 2 - 2);
      number(*box.paired, y + kRowHeight - 2);
    } else {
      number(box.action, y + (box.action.kind == ActionKind::kBackward ? 15 : 17));
    }
  }

  /// As high as its share of work.
  void joined(const TimelineSpan& span, double y) {
    const double left = x(span.start);
    const double length = to_seconds(span.end - span.start);
    const double share = length > 0 ? std::min(1.0, to_seconds(span.busy) / length) : 1.0;
    joined_ = true;
    kinds_.insert(span.most);
    add("<g><title>{} actions, {} to {}</title>",
        span.count,
        time_text(span.start.time_since_epoch()),
        time_text(span.end.time_since_epoch()));
    add(R"(<rect x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}" fill="#{:06x}"/></g>)"
        "\n",
        left,
        y + kRowHeight * (1 - share),
        std::max(x(span.end) - left, 0.2),
        kRowHeight * share,
        look_of(span.most).fill);
  }

  void messages(const TimelineRow& row, double y, Duration least) {
    TimePoint drawn_to{};
    for (const TimelineBox& message : row.messages) {
      // What lies under another bar, or is too short to see beside it, is not drawn twice.
      if (message.end - drawn_to < least / 2) {
        continue;
      }
      kinds_.insert(message.action.kind);
      const TimePoint from = std::max(message.start, drawn_to);
      add(R"(<rect x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.0f}" fill="#{:06x}">)"
          "<title>{}: {} to {}</title></rect>\n",
          x(from),
          y,
          std::max(x(message.end) - x(from), 0.5),
          kMessageHeight,
          look_of(message.action.kind).fill,
          name_of_action(message.action),
          time_text(message.start.time_since_epoch()),
          time_text(message.end.time_since_epoch()));
      drawn_to = message.end;
    }
  }

  void legend() {
    constexpr double kY = 54;
    double place = 12;
    std::set<std::string_view> told;
    const auto entry = [&](const auto& draw, const std::string& text) {
      draw(place);
      add(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)"
          "\n",
          place + 22,
          kY + 11,
          text);
      place += 22 + 6.2 * static_cast<double>(text.size()) + 14;
    };
    for (const ActionKind kind : kinds_) {
      const ActionLook& look = look_of(kind);
      if (!told.insert(look.meaning).second) {
        continue;
      }
      const bool is_message = !is_compute(kind) && kind != ActionKind::kOptimizerStep;
      entry(
          [&](double left) {
            if (is_message) {
              rectangle(left, kY + 5, 16, kMessageHeight, look.fill);
            } else {
              sample(kind, left, kY);
            }
          },
          is_message ? std::string(look.meaning) : fmt::format("{} {}", look.letter, look.meaning));
    }
    entry(
        [&](double left) {
          add(R"(<rect x="{:.1f}" y="{:.1f}" width="16" height="14" class="i"/>)", left, kY);
        },
        "idle (bubble)");
    std::string note = "numbers are micro-batches";
    if (timeline_.chunks > 1) {
      note += timeline_.chunks == 2 ? "; other shade: a rank's second stage"
                                    : "; other shade: every second stage of a rank";
    }
    if (joined_) {
      note += "; lower bars: many actions, as high as their share of work";
    }
    entry([](double) {}, note);
  }

  void sample(ActionKind kind, double left, double y) {
    rectangle(left, y, 16, 14, look_of(kind).fill);
    if (kind == ActionKind::kBackward) {
      rectangle(left, y + 10, 16, 4, look_of(ActionKind::kBackwardWeight).fill);
    } else if (kind == ActionKind::kRecompute) {
      add(R"(<rect x="{:.1f}" y="{:.1f}" width="16" height="14" class="a"/>)", left, y);
    }
  }

  const Timeline& timeline_;
  const TimeUnit& unit_;
  std::string_view title_;
  std::string_view subtitle_;
  double chart_width_;
  double left_ = 0;
  double row_step_ = 0;
  double pixels_per_second_ = 0;
  fmt::memory_buffer text_;
  std::set<ActionKind> kinds_;
  bool joined_ = false;
};

}  // namespace

std::string write_timeline_svg(const Timeline& timeline,
                               const TimeUnit& unit,
                               std::string_view title,
                               std::string_view subtitle) {
  return SvgWriter(timeline, unit, title, subtitle).write();
}

}  // namespace stagewright
