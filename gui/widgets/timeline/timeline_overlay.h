#pragma once

#include <QtCore/QRectF>

#include "gui/models/paint_columns.h"

class QPainter;

namespace stagewright::gui {

class TimelineView;

/// What lies on top of a timeline's picture: ruler, labels, grid, selection, marks.  Made for one
/// painting.
class TimelineOverlay {
 public:
  TimelineOverlay(const TimelineView& view, QPainter& painter, const TimelineColours& colours)
      : view_(view), painter_(painter), colours_(colours) {}

  void draw();

 private:
  void draw_grid();
  void draw_range();
  void draw_hits();
  void draw_selection();
  void draw_chain();
  void draw_marks();
  void draw_labels();
  void draw_group_label(std::size_t row, const QRectF& rect);
  void draw_pointer();

  const TimelineView& view_;
  QPainter& painter_;
  const TimelineColours& colours_;
};

}  // namespace stagewright::gui
