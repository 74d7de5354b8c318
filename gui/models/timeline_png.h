#pragma once

#include <string>

#include "core/base/result.h"
#include "gui/models/opened_file.h"

namespace stagewright::gui {

/// A whole step as a picture (PNG) with title, ranks and time axis, in light colours.  Rows of many
/// ranks are thinner, down to a pixel; beyond kMostPngHeight they are averaged.  Fails where memory
/// does not hold the image.
[[nodiscard]] Result<std::string> write_timeline_png(const OpenedFile& file, const ShownStep& step);

inline constexpr int kPngWidth = 1600;        ///< pixels
inline constexpr int kMostPngHeight = 4'000;  ///< of the rows, pixels

}  // namespace stagewright::gui
