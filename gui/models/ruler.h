#pragma once

#include <vector>

#include <QtCore/QRectF>
#include <QtCore/QString>

#include "core/trace/timeline.h"
#include "gui/models/paint_columns.h"
#include "gui/models/scanline.h"

class QPainter;

namespace stagewright::gui {

struct RulerMark {
  double time = 0;  ///< picoseconds
  QString label;
  friend bool operator==(const RulerMark&, const RulerMark&) = default;
};

/// 1, 2 or 5 times a power of ten, at least `least`.
[[nodiscard]] double round_step(double least);

/// Round times of a window, at most one per `spacing` pixels, as numbers of the unit that suits
/// them (or of `unit` where it has no name).
[[nodiscard]] std::vector<RulerMark> ruler_marks(const TimeWindow& window,
                                                 double width,
                                                 double spacing,
                                                 const TimeUnit& unit);

/// Ticks with their times in `area`, which shows the window.
void draw_ruler(QPainter& painter,
                const QRectF& area,
                const TimeWindow& window,
                const TimeUnit& unit,
                const TimelineColours& colours);

}  // namespace stagewright::gui
