#pragma once

/// Which paint every action gets, for each way to colour a timeline.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "gui/models/action_store.h"
#include "gui/models/scanline.h"
#include "gui/models/step_analysis.h"

namespace stagewright::gui {

enum class ColourBy : std::uint8_t {
  kAction,      ///< kind and chunk
  kMicroBatch,  ///< micro-batch number
  kStage,
  kSlack,  ///< how much longer an action could take; needs an analysis
};
inline constexpr int kColourByCount = static_cast<int>(ColourBy::kSlack) + 1;
[[nodiscard]] std::string_view name_of(ColourBy by);

/// How a theme paints; 0xAARRGGBB.
struct TimelineColours {
  std::uint32_t background = 0xFFFFFFFF;
  std::uint32_t other_rows = 0xFFF7F8FA;  ///< background of every second rank
  std::uint32_t grid = 0xFFE3E6EA;
  std::uint32_t text = 0xFF1B1F24;
  std::uint32_t faint_text = 0xFF5B636D;
  std::uint32_t path = 0xFFE6007E;
  std::uint32_t selection = 0xFF000000;
  std::uint32_t gutter = 0xFFF1F3F6;
  bool dark = false;
  friend bool operator==(const TimelineColours&, const TimelineColours&) = default;
};

/// Paint numbers of errors, from -25 % and below to +25 % and above.
inline constexpr std::uint8_t kFirstErrorPaint = 64;
inline constexpr int kErrorPaints = 41;
[[nodiscard]] std::uint8_t error_paint(double error);

/// Added to the paint number of what recedes behind a followed micro-batch.
inline constexpr std::uint8_t kReceding = 128;

/// Paints by number for that colouring: fills, and whether text on them is white.
struct Paints {
  PaintTable fill{};
  std::vector<bool> white_text = std::vector<bool>(256, false);
};
[[nodiscard]] Paints paints_for(ColourBy by, const TimelineColours& colours);
/// A paint number for every action, found by whoever asks first: with millions of actions that is
/// work for a thread that draws, not for the one that says what is wanted.
class ActionPaint {
 public:
  /// Without an analysis, all are alike under kSlack.  All but the actions of a followed
  /// micro-batch recede.
  ActionPaint(ColourBy by,
              std::shared_ptr<const ActionStore> actions,
              std::shared_ptr<const StepAnalysis> analysis = nullptr,
              std::optional<std::int32_t> followed = {});

  [[nodiscard]] const std::vector<std::uint8_t>& numbers() const;

 private:
  ColourBy by_;
  std::shared_ptr<const ActionStore> actions_;
  std::shared_ptr<const StepAnalysis> analysis_;
  std::optional<std::int32_t> followed_;
  mutable std::once_flag once_;
  mutable std::vector<std::uint8_t> numbers_;
};

/// Faint tints of the background, by cause.
[[nodiscard]] PaintTable gap_paints(const TimelineColours& colours);

}  // namespace stagewright::gui
