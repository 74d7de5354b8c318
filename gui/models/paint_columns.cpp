#include "gui/models/paint_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/base/check.h"
#include "formats/action_colours.h"

namespace stagewright::gui {
namespace {

constexpr std::uint32_t kOpaque = 0xFF000000;
constexpr int kCycle = 8;  ///< colours that take turns

// Okabe and Ito (2008), without black.
constexpr std::array<std::uint32_t, kCycle> kTurns{
    0x56B4E9, 0xE69F00, 0x009E73, 0xF0E442, 0x0072B2, 0xD55E00, 0xCC79A7, 0x999999};

constexpr int kSlackSteps = 64;

/// Light enough for a dark background.
std::uint32_t for_theme(std::uint32_t fill, const TimelineColours& colours) {
  if (!colours.dark) {
    return fill | kOpaque;
  }
  if (fill == 0x444444) {
    return 0xFFE8E8E8;
  }
  return blend(fill, 0xFFFFFF, fill == 0x0072B2 || fill == 0x00487C ? 0.18 : 0.08);
}

/// Relative luminance (WCAG 2.1) decides between black and white text.
bool wants_white(std::uint32_t fill) {
  const auto linear = [fill](int shift) {
    const double c = static_cast<double>((fill >> shift) & 0xFFU) / 255;
    return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0) < 0.18;
}

void set(Paints& paints, std::size_t number, std::uint32_t fill) {
  paints.fill[number] = fill;
  paints.white_text[number] = wants_white(fill);
}

/// Neutral in the middle; orange is slower, blue is faster than expected.
void add_error_paints(const TimelineColours& colours, Paints& paints) {
  constexpr int kMiddle = kErrorPaints / 2;
  constexpr int kThreshold = 2;  // 2.5 % is nobody's concern
  for (int i = 0; i < kErrorPaints; ++i) {
    const int distance = std::abs(i - kMiddle);
    const double share =
        distance <= kThreshold ? 0.08 : 0.15 + 0.85 * distance / static_cast<double>(kMiddle);
    set(paints,
        static_cast<std::size_t>(kFirstErrorPaint + i),
        blend(colours.background, i > kMiddle ? 0xFFD55E00 : 0xFF0072B2, share));
  }
}

std::uint8_t by_slack(std::int64_t slack, std::int64_t length) {
  if (length <= 0) {
    return 0;
  }
  // Most differences are near zero, so the scale is a root: 1 % of the step is a tenth of it.
  const double share = std::sqrt(static_cast<double>(slack) / static_cast<double>(length));
  return static_cast<std::uint8_t>(std::clamp(std::lround(share * kSlackSteps), 0L, 63L));
}

std::vector<std::uint8_t> paint_actions(ColourBy by,
                                        const ActionStore& store,
                                        const StepAnalysis* analysis,
                                        std::optional<std::int32_t> followed) {
  std::vector<std::uint8_t> paint(store.size(), 0);
  for (ActionIndex i = 0; i < store.size(); ++i) {
    switch (by) {
      case ColourBy::kAction:
        paint[i] = static_cast<std::uint8_t>(2 * static_cast<unsigned>(store.kind[i]) +
                                             (store.chunk[i] & 1U));
        break;
      case ColourBy::kMicroBatch:
        paint[i] =
            static_cast<std::uint8_t>(static_cast<std::uint32_t>(store.micro_batch[i]) % kCycle);
        break;
      case ColourBy::kStage:
        paint[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(store.stage[i]) % kCycle);
        break;
      case ColourBy::kSlack:
        paint[i] = analysis == nullptr ? 0 : by_slack(analysis->slack[i], store.length);
        break;
    }
    if (followed && store.micro_batch[i] != *followed) {
      paint[i] = static_cast<std::uint8_t>(paint[i] + kReceding);
    }
  }
  for (const Lane& lane : store.lanes) {
    for (ActionIndex i = lane.begin; lane.use == LaneUse::kError && i < lane.end; ++i) {
      paint[i] = error_paint(store.error[i]);
    }
  }
  return paint;
}

}  // namespace

std::string_view name_of(ColourBy by) {
  switch (by) {
    case ColourBy::kAction:
      return "action";
    case ColourBy::kMicroBatch:
      return "micro-batch";
    case ColourBy::kStage:
      return "stage";
    case ColourBy::kSlack:
      return "slack";
  }
  SW_CHECK(false, "a way to colour that is listed");
}

std::uint8_t error_paint(double error) {
  constexpr double kMost = 0.25;
  constexpr int kMiddle = kErrorPaints / 2;
  const double share = std::clamp(error / kMost, -1.0, 1.0);
  return static_cast<std::uint8_t>(kFirstErrorPaint + kMiddle + std::lround(share * kMiddle));
}

Paints paints_for(ColourBy by, const TimelineColours& colours) {
  Paints paints;
  switch (by) {
    case ColourBy::kAction:
      for (std::size_t kind = 0; kind < kActionKindCount; ++kind) {
        const ActionLook& look = look_of(static_cast<ActionKind>(kind));
        set(paints, 2 * kind, for_theme(look.fill, colours));
        set(paints, 2 * kind + 1, for_theme(look.second_fill, colours));
      }
      break;
    case ColourBy::kMicroBatch:
    case ColourBy::kStage:
      for (std::size_t i = 0; i < kCycle; ++i) {
        set(paints, i, for_theme(kTurns[i], colours));
      }
      break;
    case ColourBy::kSlack:
      for (std::size_t i = 0; i < kSlackSteps; ++i) {
        const double share = static_cast<double>(i) / (kSlackSteps - 1);
        set(paints, i, blend(0xFFD55E00, colours.dark ? 0xFF3A4048 : 0xFFDDE3EA, share));
      }
      break;
  }
  add_error_paints(colours, paints);
  for (std::size_t i = 0; i < kReceding; ++i) {
    set(paints, i + kReceding, blend(paints.fill[i], colours.background, 0.8));
  }
  return paints;
}

ActionPaint::ActionPaint(ColourBy by,
                         std::shared_ptr<const ActionStore> actions,
                         std::shared_ptr<const StepAnalysis> analysis,
                         std::optional<std::int32_t> followed)
    : by_(by), actions_(std::move(actions)), analysis_(std::move(analysis)), followed_(followed) {}

const std::vector<std::uint8_t>& ActionPaint::numbers() const {
  std::call_once(once_,
                 [this] { numbers_ = paint_actions(by_, *actions_, analysis_.get(), followed_); });
  return numbers_;
}

PaintTable gap_paints(const TimelineColours& colours) {
  // By BubbleCause: filling and draining grey-blue, the order's own grey, what costs time warm.
  constexpr std::array<std::uint32_t, kBubbleCauseCount> kTints{
      0x8FA3BF, 0xA08FBF, 0x9AA0A6, 0xE69F00, 0xCC79A7, 0xD55E00, 0x777777, 0x009E73};
  PaintTable table{};
  for (std::size_t cause = 0; cause < kTints.size(); ++cause) {
    table[cause] = blend(colours.background, kTints[cause], colours.dark ? 0.38 : 0.3);
  }
  return table;
}

}  // namespace stagewright::gui
