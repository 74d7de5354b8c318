#pragma once

namespace stagewright::gui {

/// Where the parts of a timeline lie, in pixels.  Views below it that share its time axis leave the
/// same room on the left.
inline constexpr int kGutterWidth = 132;
inline constexpr int kRulerHeight = 24;

}  // namespace stagewright::gui
