// The mouse on a timeline: it asks for the same operations as keys do.

#include <algorithm>
#include <cmath>

#include <QtGui/QContextMenuEvent>
#include <QtGui/QHelpEvent>
#include <QtGui/QMouseEvent>
#include <QtGui/QNativeGestureEvent>
#include <QtGui/QWheelEvent>
#include <QtWidgets/QMenu>
#include <QtWidgets/QScrollBar>
#include <QtWidgets/QToolTip>

#include "gui/models/words.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

constexpr double kZoomPerNotch = 1.25;
constexpr double kPanPerNotch = 0.1;
constexpr double kUnitsPerNotch = 120;  // of QWheelEvent::angleDelta

}  // namespace

void TimelineView::mousePressEvent(QMouseEvent* event) {
  drag_start_ = event->position();
  drag_window_ = window_;
  drag_scroll_ = scroll();
  if (event->button() == Qt::MiddleButton) {
    drag_ = Drag::kPan;
    viewport()->setCursor(Qt::ClosedHandCursor);
  } else if (event->button() == Qt::LeftButton) {
    drag_ = Drag::kPressed;
    dragged_ = actions_ && event->modifiers().testFlag(Qt::ControlModifier)
                   ? action_at(event->position())
                   : std::nullopt;
    const auto row = row_at(event->position());
    if (row && rows_->rows[*row].kind == RowKind::kGroup) {
      drag_ = Drag::kNone;
      toggle_group(*rows_->rows[*row].group);
    }
  }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  const bool inside = actions_ && content_rect().contains(at.toPoint());
  pointer_time_ = inside ? std::optional(time_at(at.x())) : std::nullopt;
  emit pointed_at(pointer_time_);
  constexpr double kClickReach = 4;
  if (drag_ == Drag::kPressed && (at - drag_start_).manhattanLength() > kClickReach &&
      drag_start_.x() >= content_rect().left()) {
    drag_ = dragged_ ? Drag::kMove : Drag::kRange;
  }
  if (drag_ == Drag::kMove) {
    selection_->select(dragged_);
    viewport()->setCursor(Qt::DragMoveCursor);
  } else if (drag_ == Drag::kRange) {
    select_range_to(at);
  } else if (drag_ == Drag::kPan) {
    const double width = std::max(1, content_rect().width());
    set_window({drag_window_.start - (at.x() - drag_start_.x()) / width * drag_window_.length,
                drag_window_.length});
    verticalScrollBar()->setValue(static_cast<int>(drag_scroll_ - (at.y() - drag_start_.y())));
  }
  viewport()->update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  if (drag_ == Drag::kPressed && actions_) {
    const auto action = action_at(event->position());
    if (action) {
      selection_->select(action);
    } else {
      clear_selection();
    }
  }
  if (drag_ == Drag::kMove && dragged_) {
    if (const auto onto = dragged_onto(*actions_, *dragged_, time_at(event->position().x()))) {
      emit move_asked(*dragged_, *onto);
    }
  }
  drag_ = Drag::kNone;
  dragged_.reset();
  viewport()->unsetCursor();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (actions_ && action_at(event->position())) {
    zoom_to_selection();
  }
}

void TimelineView::select_range_to(const QPointF& at) {
  if (!actions_ || !rows_) {
    return;
  }
  const double x0 =
      std::clamp(time_at(drag_start_.x()), 0.0, static_cast<double>(actions_->length));
  const double x1 = std::clamp(time_at(at.x()), 0.0, static_cast<double>(actions_->length));
  RangeSelection range{.from = static_cast<std::int64_t>(std::min(x0, x1)),
                       .to = static_cast<std::int64_t>(std::max(x0, x1))};
  const double y0 = std::min(drag_start_.y(), at.y()) - content_rect().top() + scroll();
  const double y1 = std::max(drag_start_.y(), at.y()) - content_rect().top() + scroll();
  for (const LaidOutRow& row : rows_->rows) {
    if (row.kind != RowKind::kGroup && row.bottom() > y0 && row.y <= y1) {
      const auto lanes = rows_->lanes_of(row);
      range.lanes.insert(range.lanes.end(), lanes.begin(), lanes.end());
    }
  }
  std::ranges::sort(range.lanes);
  range.lanes.erase(std::unique(range.lanes.begin(), range.lanes.end()), range.lanes.end());
  if (range.to > range.from && !range.lanes.empty()) {
    selection_->select_range(std::move(range));
  }
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const QPointF delta = event->angleDelta();
  // With Alt some systems turn the wheel by ninety degrees.
  const double notches = (delta.y() != 0 ? delta.y() : delta.x()) / kUnitsPerNotch;
  const Qt::KeyboardModifiers keys = event->modifiers();
  if (keys.testFlag(Qt::ControlModifier)) {
    zoom(std::pow(kZoomPerNotch, notches), time_at(event->position().x()));
  } else if (keys.testFlag(Qt::AltModifier)) {
    change_row_height(std::pow(kZoomPerNotch, notches));
  } else if (keys.testFlag(Qt::ShiftModifier) || (delta.x() != 0 && delta.y() == 0)) {
    pan(-kPanPerNotch * notches);
  } else {
    QAbstractScrollArea::wheelEvent(event);
  }
  event->accept();
}

bool TimelineView::viewportEvent(QEvent* event) {
  switch (event->type()) {
    case QEvent::ToolTip: {
      const auto* const help = static_cast<QHelpEvent*>(event);
      show_tip(help->pos(), help->globalPos());
      return true;
    }
    case QEvent::Leave:
      pointer_time_.reset();
      emit pointed_at(std::nullopt);
      viewport()->update();
      break;
    case QEvent::NativeGesture: {
      const auto* const gesture = static_cast<QNativeGestureEvent*>(event);
      if (gesture->gestureType() == Qt::ZoomNativeGesture) {
        zoom(1 + gesture->value(), time_at(gesture->position().x()));
        return true;
      }
      break;
    }
    default:
      break;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TimelineView::show_tip(const QPoint& at, const QPoint& global) {
  const auto action = actions_ ? action_at(at) : std::nullopt;
  if (!action) {
    QToolTip::hideText();
    return;
  }
  QToolTip::showText(global, describe(*actions_, *action), viewport());
}

void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  // The same actions as everywhere; whoever built the window has put them here.
  if (actions().empty()) {
    return;
  }
  if (const auto action = action_at(event->pos()); actions_ && action) {
    selection_->select(action);
  }
  QMenu menu(this);
  menu.addActions(actions());
  menu.exec(event->globalPos());
}

}  // namespace stagewright::gui
