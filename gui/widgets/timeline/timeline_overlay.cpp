#include "gui/widgets/timeline/timeline_overlay.h"

#include <algorithm>
#include <cmath>

#include <QtGui/QPainter>
#include <QtGui/QPainterPath>

#include "gui/models/ruler.h"
#include "gui/widgets/timeline/timeline_layout.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

QColor with_alpha(std::uint32_t colour, int alpha) {
  QColor result = QColor::fromRgb(colour);
  result.setAlpha(alpha);
  return result;
}

/// Below the rank's own label: what kind of row it is, once.
QString message_label(const Lane& lane) {
  if (lane.number > 0) {
    return {};
  }
  switch (lane.use) {
    case LaneUse::kTransfers:
      return TimelineView::tr("transfers");
    case LaneUse::kCollectives:
      return TimelineView::tr("collectives");
    case LaneUse::kCompared:
      return TimelineView::tr("compared");
    case LaneUse::kError:
      return TimelineView::tr("error");
    case LaneUse::kCompute:
      break;
  }
  return {};
}

}  // namespace

void TimelineOverlay::draw() {
  const QRect content = view_.content_rect();
  painter_.save();
  painter_.setClipRect(content);
  draw_grid();
  draw_range();
  draw_hits();
  draw_chain();
  draw_selection();
  draw_marks();
  draw_pointer();
  painter_.restore();
  draw_labels();
  painter_.fillRect(QRect(0, 0, kGutterWidth, kRulerHeight), QColor::fromRgb(colours_.gutter));
  draw_ruler(painter_,
             QRectF(content.left(), 0, content.width(), kRulerHeight),
             view_.window_,
             view_.document_->file()->unit,
             colours_);
}

void TimelineOverlay::draw_grid() {
  constexpr double kSpacing = 110;
  const QRect content = view_.content_rect();
  painter_.setPen(with_alpha(colours_.text, 26));
  for (const RulerMark& mark :
       ruler_marks(view_.window_, content.width(), kSpacing, view_.document_->file()->unit)) {
    const double x = std::round(view_.x_of(mark.time)) + 0.5;
    painter_.drawLine(QPointF(x, content.top()), QPointF(x, content.bottom()));
  }
  // Beyond the rows there is nothing to read.
  const double bottom = content.top() + view_.rows_->height - view_.scroll();
  if (bottom < content.bottom()) {
    painter_.fillRect(
        QRectF(content.left(), bottom, content.width(), content.bottom() - bottom + 1),
        QColor::fromRgb(colours_.background));
    painter_.setPen(QColor::fromRgb(colours_.grid));
    painter_.drawLine(QPointF(content.left(), bottom + 0.5),
                      QPointF(content.right(), bottom + 0.5));
  }
}

void TimelineOverlay::draw_range() {
  const auto& range = view_.selection_->range();
  if (!range) {
    return;
  }
  const QRect content = view_.content_rect();
  const double left = view_.x_of(static_cast<double>(range->from));
  const double right = view_.x_of(static_cast<double>(range->to));
  const QColor shade = with_alpha(colours_.background, 150);
  painter_.fillRect(QRectF(content.left(), content.top(), left - content.left(), content.height()),
                    shade);
  painter_.fillRect(QRectF(right, content.top(), content.right() + 1 - right, content.height()),
                    shade);
  painter_.setPen(QPen(QColor::fromRgb(colours_.selection), 1));
  painter_.drawLine(QPointF(left, content.top()), QPointF(left, content.bottom()));
  painter_.drawLine(QPointF(right, content.top()), QPointF(right, content.bottom()));
}

void TimelineOverlay::draw_hits() {
  // Hits ascend lane by lane; only lanes in view are looked at, one outline a pixel at most.
  const std::vector<ActionIndex>& hits = view_.selection_->hits();
  if (hits.empty()) {
    return;
  }
  const double bottom = view_.scroll() + view_.content_rect().height();
  painter_.setPen(QPen(QColor::fromRgb(colours_.path), 1.5));
  painter_.setBrush(Qt::NoBrush);
  for (std::size_t r = view_.rows_->row_at(view_.scroll()).value_or(0);
       r < view_.rows_->rows.size() && view_.rows_->rows[r].y < bottom;
       ++r) {
    const LaidOutRow& row = view_.rows_->rows[r];
    if (row.kind == RowKind::kGroup) {
      continue;
    }
    for (const LaneIndex index : view_.rows_->lanes_of(row)) {
      const Lane& lane = view_.actions_->lanes[index];
      const ActionIndex first = view_.actions_->first_ending_after(lane, view_.window_.start);
      double last = -10;
      for (auto hit = std::ranges::lower_bound(hits, first);
           hit != hits.end() && *hit < lane.end &&
           static_cast<double>(view_.actions_->start[*hit]) < view_.window_.end();
           ++hit) {
        const QRectF rect = *view_.rect_of_action(*hit);
        if (rect.left() - last >= 1) {
          painter_.drawRect(rect.adjusted(0.5, 0.5, -0.5, -1));
          last = rect.left();
        }
      }
    }
  }
}

void TimelineOverlay::draw_chain() {
  const auto& chain = view_.selection_->chain();
  const auto selected = view_.selection_->action();
  if (chain.empty() || !selected) {
    return;
  }
  painter_.setRenderHint(QPainter::Antialiasing);
  painter_.setPen(QPen(QColor::fromRgb(colours_.path), 2));
  painter_.setBrush(Qt::NoBrush);
  auto to = view_.rect_of_action(*selected);
  for (const ActionIndex action : chain) {
    const auto from = view_.rect_of_action(action);
    if (from && to) {
      const QPointF start(from->right(), from->center().y());
      const QPointF end(to->left(), to->center().y());
      const double bend = std::max(8.0, std::abs(end.x() - start.x()) / 2);
      QPainterPath path(start);
      path.cubicTo(start + QPointF(bend, 0), end - QPointF(bend, 0), end);
      painter_.drawPath(path);
      painter_.drawRect(from->adjusted(0, 0, 0, -1));
    }
    to = from;
  }
  painter_.setRenderHint(QPainter::Antialiasing, false);
}

void TimelineOverlay::draw_selection() {
  const auto action = view_.selection_->action();
  const auto rect = action ? view_.rect_of_action(*action) : std::nullopt;
  if (!rect) {
    return;
  }
  // Two lines, so that it shows on every fill.
  const QRectF outer = rect->adjusted(-1, -1, 1, 0);
  painter_.setBrush(Qt::NoBrush);
  painter_.setPen(QPen(QColor::fromRgb(colours_.background), 4));
  painter_.drawRect(outer);
  painter_.setPen(QPen(QColor::fromRgb(colours_.selection), 2));
  painter_.drawRect(outer);
}

void TimelineOverlay::draw_marks() {
  const QRect content = view_.content_rect();
  int number = 0;
  for (const Mark& mark : view_.selection_->marks()) {
    ++number;
    const double x = std::round(view_.x_of(static_cast<double>(mark.at))) + 0.5;
    QPen pen(QColor::fromRgb(colours_.path), 1, mark.kept ? Qt::SolidLine : Qt::DashLine);
    painter_.setPen(pen);
    painter_.drawLine(QPointF(x, content.top()), QPointF(x, content.bottom()));
    painter_.fillRect(QRectF(x, content.top(), 14, 13), QColor::fromRgb(colours_.path));
    painter_.setPen(Qt::white);
    painter_.drawText(QRectF(x, content.top(), 14, 13), Qt::AlignCenter, QString::number(number));
  }
}

void TimelineOverlay::draw_pointer() {
  if (!view_.pointer_time_) {
    return;
  }
  const QRect content = view_.content_rect();
  const double x = std::round(view_.x_of(*view_.pointer_time_)) + 0.5;
  painter_.setPen(with_alpha(colours_.text, 70));
  painter_.drawLine(QPointF(x, content.top()), QPointF(x, content.bottom()));
}

void TimelineOverlay::draw_group_label(std::size_t index, const QRectF& rect) {
  const LaidOutRow& row = view_.rows_->rows[index];
  painter_.fillRect(rect, QColor::fromRgb(colours_.grid));
  painter_.setRenderHint(QPainter::Antialiasing);
  const QPointF centre(rect.left() + 9, rect.center().y());
  QPolygonF arrow;
  if (row.collapsed) {
    arrow << centre + QPointF(-2, -4) << centre + QPointF(3, 0) << centre + QPointF(-2, 4);
  } else {
    arrow << centre + QPointF(-4, -2) << centre + QPointF(4, -2) << centre + QPointF(0, 3);
  }
  painter_.setPen(Qt::NoPen);
  painter_.setBrush(QColor::fromRgb(colours_.text));
  painter_.drawPolygon(arrow);
  painter_.setRenderHint(QPainter::Antialiasing, false);
  QFont font = painter_.font();
  font.setBold(true);
  painter_.setFont(font);
  painter_.setPen(QColor::fromRgb(colours_.text));
  painter_.drawText(rect.adjusted(18, 0, -4, 0),
                    Qt::AlignVCenter | Qt::AlignLeft,
                    QString::fromStdString(label_of(*view_.rows_, row, *view_.actions_)));
  font.setBold(false);
  painter_.setFont(font);
}

void TimelineOverlay::draw_labels() {
  const QRect viewport = view_.viewport()->rect();
  const QRect gutter(0, kRulerHeight, kGutterWidth, viewport.height() - kRulerHeight);
  painter_.save();
  painter_.setClipRect(gutter);
  painter_.fillRect(gutter, QColor::fromRgb(colours_.gutter));
  const double least = painter_.fontMetrics().height() - 2.0;
  double free = -1e9;  // labels keep off each other
  const double bottom = view_.scroll() + gutter.height();
  for (std::size_t i = view_.rows_->row_at(view_.scroll()).value_or(0);
       i < view_.rows_->rows.size() && view_.rows_->rows[i].y < bottom;
       ++i) {
    const LaidOutRow& row = view_.rows_->rows[i];
    const double top = gutter.top() + row.y - view_.scroll();
    const QRectF rect(0, top, kGutterWidth - 1, row.height);
    if (row.kind == RowKind::kGroup) {
      draw_group_label(i, rect);
      free = rect.bottom();
      continue;
    }
    const LaneIndex lane = view_.rows_->lanes[row.lanes_begin];
    const bool is_message =
        row.kind == RowKind::kLane && view_.actions_->lanes[lane].use != LaneUse::kCompute;
    // Thin rows of a group are named by its heading.
    if (row.height < least - 4 && (is_message || row.group)) {
      continue;
    }
    QRectF text = rect.height() < least
                      ? QRectF(rect.left(), rect.center().y() - least / 2, rect.width(), least)
                      : rect;
    if (i == 0 && view_.scroll() == 0) {
      text.moveTop(std::max<double>(text.top(), gutter.top()));  // the first of thin ones is read
    }
    if (text.top() < free) {
      continue;
    }
    painter_.setPen(QColor::fromRgb(is_message ? colours_.faint_text : colours_.text));
    painter_.drawText(text.adjusted(row.group ? 18 : 8, 0, -4, 0),
                      Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                      is_message
                          ? message_label(view_.actions_->lanes[lane])
                          : QString::fromStdString(label_of(*view_.rows_, row, *view_.actions_)));
    free = std::max(rect.bottom(), text.bottom()) - 0.5;
  }
  painter_.restore();
  painter_.setPen(QColor::fromRgb(colours_.grid));
  painter_.drawLine(gutter.topRight(), gutter.bottomRight());
}

}  // namespace stagewright::gui
