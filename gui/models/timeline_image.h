#pragma once

/// Draws the rows of a timeline into an image, away from any window: a worker thread, a test or a
/// program without a display may call it.

#include <cstdint>
#include <memory>
#include <vector>

#include <QtGui/QImage>

#include "gui/models/action_store.h"
#include "gui/models/paint_columns.h"
#include "gui/models/row_layout.h"
#include "gui/models/scanline.h"
#include "gui/models/step_analysis.h"

namespace stagewright::gui {

/// Everything that decides the picture.  Pointers are shared with whoever shows it.
struct TimelinePicture {
  std::shared_ptr<const ActionStore> actions;
  std::shared_ptr<const ActionPaint> paint;  ///< of them
  std::shared_ptr<const RowLayout> rows;
  std::shared_ptr<const StepAnalysis> analysis;  ///< may be null
  Paints paints;
  TimelineColours colours;
  TimeWindow window;
  double scroll = 0;  ///< of the rows, in logical pixels
  int width = 0;      ///< logical pixels
  int height = 0;
  double pixel_ratio = 1;
  bool show_gaps = false;  ///< tint idle time by cause
  bool show_path = false;  ///< outline the critical path
};

/// Null where memory does not hold an image of that size.
/// REQUIRES: actions, paint and rows; width and height above zero.
[[nodiscard]] QImage draw_timeline(const TimelinePicture& picture);

}  // namespace stagewright::gui
