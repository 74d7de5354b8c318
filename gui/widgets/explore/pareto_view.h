#pragma once

#include <optional>
#include <vector>

#include <QtWidgets/QWidget>

#include "gui/models/plan_search.h"

namespace stagewright::gui {

/// The plans of a search as points: step time against memory, devices as colour, and the line of
/// those that none beats.  Left and Right go through them by time.
class ParetoView : public QWidget {
  Q_OBJECT

 public:
  explicit ParetoView(PlanSearch* search, QWidget* parent = nullptr);

  [[nodiscard]] QSize sizeHint() const override;
  /// Where the point of a row is drawn; nothing where it is not.
  [[nodiscard]] std::optional<QPointF> point_of(int row) const;
  [[nodiscard]] QString describe(int row) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// What the axes span: seconds and GiB.
  struct Scale {
    double first_time = 0;
    double last_time = 1;
    double least_memory = 0;
    double most_memory = 1;
  };
  void take_plans();
  void take_chosen();
  [[nodiscard]] QRectF plot() const;
  [[nodiscard]] QPointF place(double seconds, double gibibytes) const;
  [[nodiscard]] std::optional<int> row_at(const QPointF& at) const;
  [[nodiscard]] QColor colour_of(std::int64_t devices) const;
  void draw_axes(QPainter& painter) const;
  void draw_front(QPainter& painter) const;
  void draw_points(QPainter& painter) const;
  void draw_legend(QPainter& painter) const;
  void draw_note(QPainter& painter) const;

  PlanSearch* search_;
  std::vector<int> by_time_;           ///< rows that have a place, fastest first
  std::vector<std::int64_t> devices_;  ///< that occur, ascending
  Scale scale_;
};

}  // namespace stagewright::gui
