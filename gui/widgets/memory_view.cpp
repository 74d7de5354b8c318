#include "gui/widgets/memory_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <QtGui/QHelpEvent>
#include <QtGui/QPainter>
#include <QtWidgets/QScrollBar>
#include <QtWidgets/QToolTip>

#include "gui/models/words.h"
#include "gui/widgets/theme.h"
#include "gui/widgets/timeline/timeline_layout.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

constexpr int kLegendHeight = 22;
constexpr int kLaneHeight = 72;
constexpr int kLaneGap = 6;

}  // namespace

MemoryView::MemoryView(TimelineView* timeline, QWidget* parent)
    : QAbstractScrollArea(parent), timeline_(timeline) {
  setObjectName(QStringLiteral("memory"));
  setAccessibleName(tr("Memory over time"));
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  setMinimumHeight(kLegendHeight + kLaneHeight);
  connect(timeline_->document(), &Document::changed, this, &MemoryView::take_document);
  connect(timeline_, &TimelineView::window_changed, viewport(), qOverload<>(&QWidget::update));
  take_document();
}

void MemoryView::take_document() {
  step_ = timeline_->document()->step();
  scale_ = {};
  if (step_) {
    for (const MemoryLane& lane : step_->memory) {
      scale_ = std::max(scale_, lane.peak);
    }
    // The limit is part of the picture unless it is far away.
    for (const MemoryLane& lane : step_->memory) {
      if (lane.limit && *lane.limit / std::max(scale_, Bytes(1)) < 4) {
        scale_ = std::max(scale_, *lane.limit);
      }
    }
  }
  sort_lanes();
}

void MemoryView::set_fullest_first(bool fullest_first) {
  fullest_first_ = fullest_first;
  sort_lanes();
}

void MemoryView::sort_lanes() {
  order_.resize(step_ ? step_->memory.size() : 0);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (fullest_first_) {
    std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) {
      return step_->memory[a].peak > step_->memory[b].peak;
    });
  }
  update_scroll_bar();
  viewport()->update();
}

void MemoryView::update_scroll_bar() {
  const int visible = viewport()->height() - kLegendHeight;
  const int all = static_cast<int>(order_.size()) * kLaneHeight;
  verticalScrollBar()->setPageStep(std::max(1, visible));
  verticalScrollBar()->setSingleStep(kLaneHeight / 2);
  verticalScrollBar()->setRange(0, std::max(0, all - visible));
}

void MemoryView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  update_scroll_bar();
}

std::optional<std::size_t> MemoryView::lane_at(const QPointF& at) const {
  const double y = at.y() - kLegendHeight + verticalScrollBar()->value();
  if (at.y() < kLegendHeight || y < 0) {
    return std::nullopt;
  }
  const auto place = static_cast<std::size_t>(y / kLaneHeight);
  return place < order_.size() ? std::optional(place) : std::nullopt;
}

void MemoryView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (order_.empty()) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(viewport()->rect().adjusted(16, 0, -16, 0),
                     static_cast<int>(Qt::AlignCenter) | static_cast<int>(Qt::TextWordWrap),
                     step_ ? tr("This file says nothing about memory. Plans and traces of runs do.")
                           : tr("No file is open."));
    return;
  }
  const int scroll = verticalScrollBar()->value();
  for (std::size_t place = static_cast<std::size_t>(scroll / kLaneHeight); place < order_.size();
       ++place) {
    const QRectF area(0,
                      kLegendHeight + static_cast<double>(place) * kLaneHeight - scroll,
                      viewport()->width(),
                      kLaneHeight - kLaneGap);
    if (area.top() >= viewport()->height()) {
      break;
    }
    draw_lane(painter, step_->memory[order_[place]], area);
  }
  draw_legend(painter);
}

void MemoryView::draw_lane(QPainter& painter, const MemoryLane& lane, const QRectF& area) const {
  const QRectF plot = area.adjusted(kGutterWidth, 0, 0, 0);
  const double top = std::max(1.0, static_cast<double>(scale_.count()) * 1.06);
  draw_stack(painter, lane, plot, top);
  if (lane.limit) {
    const double y =
        std::round(plot.bottom() - static_cast<double>(lane.limit->count()) / top * plot.height()) +
        0.5;
    if (y >= plot.top()) {
      painter.setPen(QPen(warning_colour(palette()), 1, Qt::DashLine));
      painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    }
  }
  painter.setPen(palette().color(QPalette::Mid));
  painter.drawLine(QPointF(area.left(), plot.bottom() + 0.5),
                   QPointF(plot.right(), plot.bottom() + 0.5));
  draw_label(painter, lane, area);
}

void MemoryView::draw_stack(QPainter& painter,
                            const MemoryLane& lane,
                            const QRectF& plot,
                            double top) const {
  const TimeWindow& window = timeline_->window_shown();
  const int width = static_cast<int>(plot.width());
  const auto length = static_cast<double>(step_->actions.length);
  for (int x = 0; x < width; ++x) {
    const double from = window.to_time(x, width);
    const double to = window.to_time(x + 1, width);
    if (to <= 0 || from > length) {
      continue;
    }
    const LiveBytes live =
        lane.most_in(static_cast<std::int64_t>(from), static_cast<std::int64_t>(to));
    double bottom = plot.bottom();
    const auto add = [&](Bytes bytes, const QColor& colour) {
      const double height = static_cast<double>(bytes.count()) / top * plot.height();
      if (height > 0) {
        painter.fillRect(QRectF(plot.left() + x, bottom - height, 1, height), colour);
        bottom -= height;
      }
    };
    add(lane.context, context_colour(palette()));
    for (std::size_t c = 0; c < live.size(); ++c) {
      add(live[c], colour_of(static_cast<TensorClass>(c), palette()));
    }
  }
}

void MemoryView::draw_label(QPainter& painter, const MemoryLane& lane, const QRectF& area) const {
  painter.fillRect(QRectF(area.left(), area.top(), kGutterWidth, kLaneHeight),
                   palette().color(QPalette::Window));
  const QRectF text = area.adjusted(8, 2, 0, -2);
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(text, Qt::AlignLeft | Qt::AlignTop, tr("rank %1").arg(lane.rank.value()));
  const bool fits = !lane.limit || lane.peak <= *lane.limit;
  painter.setPen(fits ? palette().color(QPalette::Text) : warning_colour(palette()));
  const int line = painter.fontMetrics().height();
  const QString peak = QString::fromStdString(to_string(lane.peak));
  painter.drawText(text.adjusted(0, line, 0, 0),
                   Qt::AlignLeft | Qt::AlignTop,
                   fits ? tr("peak %1").arg(peak) : tr("peak %1: too much").arg(peak));
  if (lane.limit) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(text.adjusted(0, 2 * line, 0, 0),
                     Qt::AlignLeft | Qt::AlignTop,
                     tr("limit %1").arg(QString::fromStdString(to_string(*lane.limit))));
  }
}

void MemoryView::draw_legend(QPainter& painter) const {
  painter.fillRect(QRect(0, 0, viewport()->width(), kLegendHeight),
                   palette().color(QPalette::Window));
  double x = kGutterWidth + 4;
  const auto add = [&](const QString& name, const QColor& colour) {
    painter.fillRect(QRectF(x, 6, 10, 10), colour);
    painter.setPen(palette().color(QPalette::Text));
    const int width = painter.fontMetrics().horizontalAdvance(name);
    painter.drawText(QRectF(x + 14, 0, width + 4, kLegendHeight), Qt::AlignVCenter, name);
    x += width + 32;
  };
  if (std::ranges::any_of(step_->memory,
                          [](const MemoryLane& lane) { return lane.context > Bytes{}; })) {
    add(word_for_context(), context_colour(palette()));
  }
  for (int c = 0; c < kTensorClassCount; ++c) {
    const auto tensor_class = static_cast<TensorClass>(c);
    const bool occurs = std::ranges::any_of(step_->memory, [c](const MemoryLane& lane) {
      return lane.most[static_cast<std::size_t>(c)] > Bytes{};
    });
    if (occurs) {
      add(word_for(tensor_class), colour_of(tensor_class, palette()));
    }
  }
}

QString MemoryView::describe_at(const QPointF& at) const {
  const auto place = lane_at(at);
  if (!place || at.x() < kGutterWidth) {
    return {};
  }
  const MemoryLane& lane = step_->memory[order_[*place]];
  const double width = viewport()->width() - kGutterWidth;
  const auto time =
      static_cast<std::int64_t>(timeline_->window_shown().to_time(at.x() - kGutterWidth, width));
  const LiveBytes live = lane.most_in(time, time + 1);
  QString text = tr("rank %1 at %2: %3")
                     .arg(lane.rank.value())
                     .arg(QString::fromStdString(to_string(Duration(time))),
                          QString::fromStdString(to_string(lane.context + total_of(live))));
  if (lane.context > Bytes{}) {
    text += QStringLiteral("\n%1 %2").arg(word_for_context(),
                                          QString::fromStdString(to_string(lane.context)));
  }
  for (std::size_t c = 0; c < live.size(); ++c) {
    if (live[c] > Bytes{}) {
      text += QStringLiteral("\n%1 %2").arg(word_for(static_cast<TensorClass>(c)),
                                            QString::fromStdString(to_string(live[c])));
    }
  }
  return text;
}

bool MemoryView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* const help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), describe_at(help->pos()), viewport());
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace stagewright::gui
