#include "gui/widgets/stage_balance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <QtGui/QHelpEvent>
#include <QtGui/QKeyEvent>
#include <QtGui/QMouseEvent>
#include <QtGui/QPainter>
#include <QtWidgets/QScrollBar>
#include <QtWidgets/QToolTip>

#include "gui/models/statistics_model.h"
#include "gui/widgets/theme.h"

namespace stagewright::gui {
namespace {

constexpr int kRowHeight = 26;
constexpr int kTitleHeight = 26;
constexpr int kNameWidth = 138;
constexpr int kSpace = 8;
constexpr int kValueWidth = 84;

}  // namespace

StageBalance::StageBalance(Document* document, PlanEditor* editor, QWidget* parent)
    : QAbstractScrollArea(parent), document_(document), editor_(editor) {
  setObjectName(QStringLiteral("stages"));
  setAccessibleName(tr("Stage balance"));
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  connect(document_, &Document::changed, this, &StageBalance::take_document);
  take_document();
}

QSize StageBalance::sizeHint() const {
  constexpr int kRows = 8;
  return {420, kTitleHeight + kRows * kRowHeight};
}

void StageBalance::take_document() {
  const OpenedFile* const file = document_->file();
  stages_ = file == nullptr ? std::vector<StageTime>{} : file->stages;
  slowest_ = 0;
  for (const StageTime& stage : stages_) {
    slowest_ = std::max(slowest_, to_seconds(stage.whole()));
  }
  dragged_.reset();
  onto_.reset();
  update_scroll_bar();
  set_current(current_);
}

void StageBalance::set_current(std::int32_t stage) {
  const auto last = static_cast<std::int32_t>(stages_.size()) - 1;
  current_ = std::clamp(stage, 0, std::max(0, last));
  if (last >= 0) {
    setAccessibleDescription(describe(current_));
    const int top = current_ * kRowHeight;
    const int visible = std::max(kRowHeight, viewport()->height() - kTitleHeight);
    const int at = verticalScrollBar()->value();
    verticalScrollBar()->setValue(std::clamp(at, top + kRowHeight - visible, top));
  }
  viewport()->update();
}

void StageBalance::update_scroll_bar() {
  const int visible = viewport()->height() - kTitleHeight;
  verticalScrollBar()->setPageStep(std::max(1, visible));
  verticalScrollBar()->setSingleStep(kRowHeight);
  verticalScrollBar()->setRange(
      0, std::max(0, static_cast<int>(stages_.size()) * kRowHeight - visible));
}

void StageBalance::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  update_scroll_bar();
}

QRectF StageBalance::bar_rect(std::int32_t stage) const {
  const double top = kTitleHeight + stage * kRowHeight - verticalScrollBar()->value();
  const double room = std::max(40, viewport()->width() - kNameWidth - kValueWidth - kSpace);
  const double time = to_seconds(stages_[static_cast<std::size_t>(stage)].whole());
  return {double{kNameWidth}, top + 3, slowest_ > 0 ? room * time / slowest_ : 0, kRowHeight - 6};
}

QRectF StageBalance::block_rect(std::int32_t stage, std::int32_t layer) const {
  const QRectF bar = bar_rect(stage);
  const double width = bar.width() / std::max(1, stages_[static_cast<std::size_t>(stage)].layers);
  return {bar.left() + width * layer, bar.top(), width, bar.height()};
}

std::optional<std::int32_t> StageBalance::stage_at(double y) const {
  const double row = std::floor((y - kTitleHeight + verticalScrollBar()->value()) / kRowHeight);
  const bool inside = y >= kTitleHeight && row >= 0 && row < static_cast<double>(stages_.size());
  return inside ? std::optional(static_cast<std::int32_t>(row)) : std::nullopt;
}

std::optional<StageBalance::Block> StageBalance::block_at(const QPointF& at) const {
  const auto stage = stage_at(at.y());
  if (!stage) {
    return std::nullopt;
  }
  const QRectF bar = bar_rect(*stage);
  const std::int32_t layers = stages_[static_cast<std::size_t>(*stage)].layers;
  if (layers == 0 || at.x() < bar.left() || at.x() >= bar.right()) {
    return std::nullopt;
  }
  const auto layer = static_cast<std::int32_t>((at.x() - bar.left()) / bar.width() * layers);
  return Block{.stage = *stage, .layer = std::min(layer, layers - 1)};
}

/// Whether a layer goes along when a block is dragged to where the pointer is.
bool StageBalance::moves(const Block& block, std::int32_t stage, std::int32_t layer) const {
  if (!onto_ || stage != block.stage || *onto_ == stage) {
    return false;
  }
  return *onto_ > stage ? layer >= block.layer : layer <= block.layer;
}

void StageBalance::move_layers(const Block& block, std::int32_t to) {
  const std::int32_t layers = stages_[static_cast<std::size_t>(block.stage)].layers;
  const std::int32_t count = to > block.stage ? layers - block.layer : block.layer + 1;
  editor_->change(
      tr("Move %n layer(s) from stage %1 to stage %2", nullptr, count).arg(block.stage).arg(to),
      [from = block.stage, to, count](PlanDraft draft) {
        return gui::move_layers(std::move(draft), from, to, count);
      });
}

void StageBalance::hand_on(std::int32_t direction) {
  const std::int32_t to = current_ + direction;
  if (to < 0 || to >= static_cast<std::int32_t>(stages_.size())) {
    return;
  }
  const std::int32_t layers = stages_[static_cast<std::size_t>(current_)].layers;
  move_layers({.stage = current_, .layer = direction > 0 ? layers - 1 : 0}, to);
}

void StageBalance::mousePressEvent(QMouseEvent* event) {
  if (const auto stage = stage_at(event->position().y())) {
    set_current(*stage);
    dragged_ = event->button() == Qt::LeftButton ? block_at(event->position()) : std::nullopt;
  }
}

void StageBalance::mouseMoveEvent(QMouseEvent* event) {
  if (dragged_) {
    onto_ = stage_at(event->position().y());
    viewport()->setCursor(Qt::DragMoveCursor);
    viewport()->update();
  }
}

void StageBalance::mouseReleaseEvent(QMouseEvent* event) {
  viewport()->unsetCursor();
  const auto onto = stage_at(event->position().y());
  const auto dragged = std::exchange(dragged_, std::nullopt);
  onto_.reset();
  viewport()->update();
  if (dragged && onto && *onto != dragged->stage) {
    move_layers(*dragged, *onto);
  }
}

void StageBalance::keyPressEvent(QKeyEvent* event) {
  const bool down = event->key() == Qt::Key_Down;
  if (!down && event->key() != Qt::Key_Up) {
    QAbstractScrollArea::keyPressEvent(event);
    return;
  }
  const std::int32_t direction = down ? 1 : -1;
  if (event->modifiers().testFlag(Qt::AltModifier)) {
    hand_on(direction);
  } else {
    set_current(current_ + direction);
  }
}

void StageBalance::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  viewport()->update();
}

void StageBalance::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

QString StageBalance::describe(std::int32_t stage) const {
  const StageTime& time = stages_[static_cast<std::size_t>(stage)];
  const TimeUnit& unit = document_->file()->unit;
  QStringList parts;
  if (time.layers > 0) {
    parts += tr("%n layer(s)", nullptr, time.layers);
  }
  parts += tr("forward %1").arg(time_text(time.forward, unit));
  parts += tr("backward %1").arg(time_text(time.backward + time.weight, unit));
  if (time.recompute > Duration()) {
    parts += tr("recomputing %1").arg(time_text(time.recompute, unit));
  }
  if (time.peak) {
    const QString peak = QString::fromStdString(to_string(*time.peak));
    parts += time.limit ? tr("%1 of %2").arg(peak, QString::fromStdString(to_string(*time.limit)))
                        : peak;
  }
  return tr("stage %1: %2").arg(stage).arg(parts.join(QStringLiteral(", ")));
}

bool StageBalance::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* const help = static_cast<QHelpEvent*>(event);
    const auto stage = stage_at(help->pos().y());
    QToolTip::showText(help->globalPos(), stage ? describe(*stage) : QString(), viewport());
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void StageBalance::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (stages_.empty()) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(viewport()->rect(), Qt::AlignCenter, tr("Nothing that has stages is open."));
    return;
  }
  for (std::int32_t stage = 0; stage < static_cast<std::int32_t>(stages_.size()); ++stage) {
    draw_stage(painter, stage);
  }
  draw_title(painter);
}

void StageBalance::draw_title(QPainter& painter) const {
  const QRectF area(0, 0, viewport()->width(), kTitleHeight);
  painter.fillRect(area, palette().color(QPalette::Base));
  painter.setPen(palette().color(QPalette::Text));
  const QString title =
      tr("Slowest stage: %1 % above the mean").arg(100 * imbalance(stages_), 0, 'f', 1);
  painter.drawText(
      area.adjusted(kSpace, 0, -kSpace, 0),
      Qt::AlignVCenter | Qt::AlignLeft,
      fontMetrics().elidedText(title, Qt::ElideRight, static_cast<int>(area.width()) - 2 * kSpace));
}

void StageBalance::draw_stage(QPainter& painter, std::int32_t stage) const {
  const StageTime& time = stages_[static_cast<std::size_t>(stage)];
  const QRectF bar = bar_rect(stage);
  const QRectF row(0, bar.top() - 3, viewport()->width(), kRowHeight);
  if (row.bottom() < kTitleHeight || row.top() > viewport()->height()) {
    return;
  }
  if (onto_ == stage && dragged_ && dragged_->stage != stage) {
    painter.fillRect(row, palette().color(QPalette::AlternateBase));
  }
  painter.setPen(palette().color(QPalette::Text));
  const QString label = time.layers > 0
                            ? tr("stage %1, %n layer(s)", nullptr, time.layers).arg(stage)
                            : tr("stage %1").arg(stage);
  painter.drawText(QRectF(kSpace, row.top(), kNameWidth - kSpace, row.height()),
                   Qt::AlignVCenter | Qt::AlignLeft,
                   label);
  draw_parts(painter, time, bar);
  painter.setPen(palette().color(QPalette::Base));
  for (std::int32_t layer = 1; layer < time.layers; ++layer) {
    const double x = block_rect(stage, layer).left();
    painter.drawLine(QPointF(x, bar.top()), QPointF(x, bar.bottom() - 1));
  }
  QPen frame(palette().color(QPalette::Text));
  frame.setWidth(2);
  for (std::int32_t layer = 0; dragged_ && layer < time.layers; ++layer) {
    if (moves(*dragged_, stage, layer)) {
      painter.setPen(frame);
      painter.drawRect(block_rect(stage, layer).adjusted(1, 1, -1, -1));
    }
  }
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(QRectF(bar.right() + kSpace, row.top(), kValueWidth, row.height()),
                   Qt::AlignVCenter | Qt::AlignLeft,
                   time_text(time.whole(), document_->file()->unit));
  if (stage == current_ && hasFocus()) {
    painter.setPen(palette().color(QPalette::Highlight));
    painter.drawRect(row.adjusted(1, 1, -2, -2));
  }
}

void StageBalance::draw_parts(QPainter& painter, const StageTime& stage, const QRectF& bar) const {
  const Paints paints = paints_for(ColourBy::kAction, timeline_colours(palette()));
  const std::array<std::pair<ActionKind, Duration>, 4> parts{
      std::pair{ActionKind::kForward, stage.forward},
      std::pair{ActionKind::kRecompute, stage.recompute},
      std::pair{ActionKind::kBackward, stage.backward},
      std::pair{ActionKind::kBackwardWeight, stage.weight}};
  const double whole = std::max(1e-30, to_seconds(stage.whole()));
  double x = bar.left();
  for (const auto& [kind, time] : parts) {
    const double width = bar.width() * to_seconds(time) / whole;
    painter.fillRect(QRectF(x, bar.top(), width, bar.height()),
                     QColor(paints.fill[2 * static_cast<std::size_t>(kind)]));
    x += width;
  }
}

}  // namespace stagewright::gui
