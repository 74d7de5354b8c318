#include "gui/widgets/cause_bars.h"

#include <algorithm>
#include <cmath>

#include <QtGui/QHelpEvent>
#include <QtGui/QMouseEvent>
#include <QtGui/QPainter>
#include <QtWidgets/QScrollBar>
#include <QtWidgets/QToolTip>

#include "gui/models/statistics_model.h"
#include "gui/models/words.h"
#include "gui/widgets/theme.h"

namespace stagewright::gui {
namespace {

constexpr int kBarHeight = 20;
constexpr int kLabelWidth = 62;
constexpr int kLegendLine = 17;
constexpr double kLeastShown = 0.0005;  // less reads as 0.0 %

}  // namespace

CauseBars::CauseBars(Document* document, QWidget* parent)
    : QAbstractScrollArea(parent), document_(document) {
  setObjectName(QStringLiteral("causes"));
  setAccessibleName(tr("Idle time by cause"));
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  connect(document_, &Document::changed, this, &CauseBars::take_analysis);
  connect(document_, &Document::analysed, this, &CauseBars::take_analysis);
  take_analysis();
}

void CauseBars::take_analysis() {
  analysis_ = document_->analysis();
  update_scroll_bar();
  viewport()->update();
}

void CauseBars::update_scroll_bar() {
  const int visible = viewport()->height() - legend_height();
  const int all = analysis_ ? static_cast<int>(analysis_->bubbles.ranks.size()) * kBarHeight : 0;
  verticalScrollBar()->setPageStep(std::max(1, visible));
  verticalScrollBar()->setSingleStep(kBarHeight);
  verticalScrollBar()->setRange(0, std::max(0, all - visible));
}

void CauseBars::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  update_scroll_bar();
}

std::optional<std::size_t> CauseBars::bar_at(const QPointF& at) const {
  if (!analysis_ || at.y() < legend_height()) {
    return std::nullopt;
  }
  const auto bar = static_cast<std::size_t>(
      (at.y() - legend_height() + verticalScrollBar()->value()) / kBarHeight);
  return bar < analysis_->bubbles.ranks.size() ? std::optional(bar) : std::nullopt;
}

QString CauseBars::notice() const {
  if (analysis_) {
    return {};
  }
  if (document_->file() == nullptr) {
    return tr("No file is open.");
  }
  return document_->comparison() ? tr("Idle time is shown for one file at a time: stop comparing.")
                                 : tr("Finding out why ranks are idle ...");
}

void CauseBars::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (!analysis_) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(viewport()->rect(), Qt::AlignCenter | Qt::TextWordWrap, notice());
    return;
  }
  const int scroll = verticalScrollBar()->value();
  for (auto i = static_cast<std::size_t>(scroll / kBarHeight); i < analysis_->bubbles.ranks.size();
       ++i) {
    const QRectF area(0,
                      legend_height() + static_cast<double>(i) * kBarHeight - scroll,
                      viewport()->width(),
                      kBarHeight - 3);
    if (area.top() >= viewport()->height()) {
      break;
    }
    draw_bar(painter, analysis_->bubbles.ranks[i], area);
  }
  draw_legend(painter);
}

void CauseBars::draw_bar(QPainter& painter, const RankBubble& rank, const QRectF& area) const {
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(area.adjusted(6, 0, 0, 0),
                   Qt::AlignVCenter | Qt::AlignLeft,
                   tr("rank %1").arg(rank.rank.value()));
  const QRectF bar = area.adjusted(kLabelWidth, 0, -6, 0);
  const double step = std::max(1e-30, to_seconds(analysis_->bubbles.step_time));
  painter.fillRect(
      bar,
      QColor(blend(
          palette().color(QPalette::Base).rgb(), palette().color(QPalette::Text).rgb(), 0.2)));
  double right = bar.right();
  for (int c = kBubbleCauseCount - 1; c >= 0; --c) {
    const double width =
        to_seconds(rank.by_cause[static_cast<std::size_t>(c)]) / step * bar.width();
    painter.fillRect(QRectF(right - width, bar.top(), width, bar.height()),
                     colour_of(static_cast<BubbleCause>(c), palette()));
    right -= width;
  }
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(bar.adjusted(6, 0, 0, 0),
                   Qt::AlignVCenter | Qt::AlignLeft,
                   tr("%1 % busy").arg(100 * (1 - to_seconds(rank.idle) / step), 0, 'f', 1));
}

std::vector<CauseBars::LegendEntry> CauseBars::legend() const {
  std::vector<LegendEntry> entries;
  if (!analysis_) {
    return entries;
  }
  int x = 6;
  int y = 4;
  for (int c = 0; c < kBubbleCauseCount; ++c) {
    const auto cause = static_cast<BubbleCause>(c);
    const double share = analysis_->bubbles.share(cause);
    if (share < kLeastShown) {
      continue;
    }
    const QString text = tr("%1 %2 %").arg(word_for(cause)).arg(100 * share, 0, 'f', 1);
    const int width = fontMetrics().horizontalAdvance(text) + 18;
    if (x + width > viewport()->width() && x > 6) {
      x = 6;
      y += kLegendLine;
    }
    entries.push_back({cause, text, QRect(x, y, width, kLegendLine)});
    x += width + 10;
  }
  return entries;
}

int CauseBars::legend_height() const {
  const auto entries = legend();
  return entries.empty() ? 4 : entries.back().place.bottom() + 5;
}

void CauseBars::draw_legend(QPainter& painter) const {
  painter.fillRect(QRect(0, 0, viewport()->width(), legend_height()),
                   palette().color(QPalette::Base));
  for (const LegendEntry& entry : legend()) {
    painter.fillRect(QRect(entry.place.left(), entry.place.top() + 3, 10, 10),
                     colour_of(entry.cause, palette()));
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(entry.place.adjusted(14, 0, 4, 0), Qt::AlignVCenter, entry.text);
  }
}

QString CauseBars::describe(const RankBubble& rank) const {
  const TimeUnit unit = document_->file()->unit;
  QString text = tr("rank %1: idle %2").arg(rank.rank.value()).arg(time_text(rank.idle, unit));
  for (int c = 0; c < kBubbleCauseCount; ++c) {
    const Duration time = rank.by_cause[static_cast<std::size_t>(c)];
    if (time > Duration{}) {
      text += QStringLiteral("\n%1 %2").arg(word_for(static_cast<BubbleCause>(c)),
                                            time_text(time, unit));
    }
  }
  return text;
}

bool CauseBars::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* const help = static_cast<QHelpEvent*>(event);
    const auto bar = bar_at(help->pos());
    QToolTip::showText(
        help->globalPos(), bar ? describe(analysis_->bubbles.ranks[*bar]) : QString(), viewport());
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void CauseBars::mousePressEvent(QMouseEvent* event) {
  if (const auto bar = bar_at(event->position())) {
    emit rank_chosen(analysis_->bubbles.ranks[*bar].rank);
  }
}

}  // namespace stagewright::gui
