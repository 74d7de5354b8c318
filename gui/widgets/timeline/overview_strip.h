#pragma once

#include <memory>

#include <QtGui/QImage>
#include <QtWidgets/QWidget>

#include "gui/models/picture_worker.h"

namespace stagewright::gui {

class TimelineView;

/// The whole step in one band, above a timeline: the mean of all ranks, ticks where a search hit,
/// and a frame around what the timeline shows.  Dragging moves the frame; dragging with the right
/// button or outside of it draws a new one.
class OverviewStrip : public QWidget {
  Q_OBJECT

 public:
  explicit OverviewStrip(TimelineView* timeline, QWidget* parent = nullptr);

  [[nodiscard]] QSize sizeHint() const override;
  /// Draws at once, for pictures without an event loop.
  void draw_now();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  void take_document();
  void ask_for_picture();
  [[nodiscard]] TimelinePicture picture() const;
  [[nodiscard]] QRectF band() const;
  [[nodiscard]] TimeWindow whole() const;
  [[nodiscard]] double time_at(double x) const;

  TimelineView* timeline_;
  PictureWorker worker_;
  std::shared_ptr<const ActionStore> actions_;  ///< that paint_ and rows_ are of
  std::shared_ptr<const ActionPaint> paint_;
  std::shared_ptr<const RowLayout> rows_;
  QImage image_;
  quint64 number_ = 0;
  double drag_from_ = 0;
  TimeWindow drag_window_;
  bool moves_ = false;
};

}  // namespace stagewright::gui
