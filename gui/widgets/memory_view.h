#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QtWidgets/QAbstractScrollArea>

#include "gui/models/document.h"
#include "gui/models/scanline.h"

namespace stagewright::gui {

class TimelineView;

/// Memory over time, a lane for each rank, stacked by what it is for, with the device's limit.  It
/// shares the timeline's window of time.
class MemoryView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit MemoryView(TimelineView* timeline, QWidget* parent = nullptr);

  /// Lanes with the highest peak first, else by rank.
  void set_fullest_first(bool fullest_first);
  [[nodiscard]] bool fullest_first() const { return fullest_first_; }
  /// The lane under a point of the viewport, into order().
  [[nodiscard]] std::optional<std::size_t> lane_at(const QPointF& at) const;
  /// Which lane of the step stands at each place.
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }
  /// "rank 3 at 12.1 ms: 41.2 GiB of 79.1 GiB; parameters 12 GiB, ...".
  [[nodiscard]] QString describe_at(const QPointF& at) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  void take_document();
  void sort_lanes();
  void update_scroll_bar();
  void draw_lane(QPainter& painter, const MemoryLane& lane, const QRectF& area) const;
  void draw_stack(QPainter& painter, const MemoryLane& lane, const QRectF& plot, double top) const;
  void draw_label(QPainter& painter, const MemoryLane& lane, const QRectF& area) const;
  void draw_legend(QPainter& painter) const;

  TimelineView* timeline_;
  std::shared_ptr<const ShownStep> step_;
  std::vector<std::size_t> order_;
  Bytes scale_{};  ///< top of every lane
  bool fullest_first_ = false;
};

}  // namespace stagewright::gui
