#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QtWidgets/QAbstractScrollArea>

#include "gui/models/document.h"

namespace stagewright::gui {

/// Where the time of every rank goes: computing, and idle time by cause, a bar for each.
class CauseBars : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit CauseBars(Document* document, QWidget* parent = nullptr);

  /// The bar under a point of the viewport, into the ranks of BubbleCauses.
  [[nodiscard]] std::optional<std::size_t> bar_at(const QPointF& at) const;

  /// What stands there instead of bars; empty while there are some.
  [[nodiscard]] QString notice() const;

 signals:
  void rank_chosen(RankId rank);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  struct LegendEntry {
    BubbleCause cause = BubbleCause::kOrder;
    QString text;
    QRect place;
  };
  [[nodiscard]] std::vector<LegendEntry> legend() const;
  [[nodiscard]] int legend_height() const;
  void take_analysis();
  void update_scroll_bar();
  void draw_bar(QPainter& painter, const RankBubble& rank, const QRectF& area) const;
  void draw_legend(QPainter& painter) const;
  [[nodiscard]] QString describe(const RankBubble& rank) const;

  Document* document_;
  std::shared_ptr<const StepAnalysis> analysis_;
};

}  // namespace stagewright::gui
