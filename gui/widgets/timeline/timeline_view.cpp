#include "gui/widgets/timeline/timeline_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QtCore/QEvent>
#include <QtGui/QPainter>
#include <QtGui/QResizeEvent>
#include <QtWidgets/QScrollBar>

#include "gui/widgets/theme.h"
#include "gui/widgets/timeline/timeline_layout.h"
#include "gui/widgets/timeline/timeline_overlay.h"

namespace stagewright::gui {
namespace {

constexpr int kRestMilliseconds = 400;
constexpr double kLeastWindow = 100;  ///< picoseconds

}  // namespace

TimelineView::TimelineView(Document* document, Selection* selection, QWidget* parent)
    : QAbstractScrollArea(parent), document_(document), selection_(selection) {
  setObjectName(QStringLiteral("timeline"));
  setAccessibleName(tr("Timeline"));
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  rest_.setSingleShot(true);
  rest_.setInterval(kRestMilliseconds);
  connect(&rest_, &QTimer::timeout, this, &TimelineView::note_view);
  connect(&worker_, &PictureWorker::drawn, this, &TimelineView::take_picture);
  connect(document_, &Document::changed, this, &TimelineView::take_document);
  connect(document_, &Document::analysed, this, &TimelineView::take_analysis);
  connect(selection_, &Selection::changed, this, &TimelineView::take_selection);
  connect(selection_, &Selection::hits_changed, viewport(), qOverload<>(&QWidget::update));
  connect(selection_, &Selection::marks_changed, viewport(), qOverload<>(&QWidget::update));
  take_document();
}

void TimelineView::take_document() {
  if (document_->shows_revision() && actions_) {
    take_revision();
    return;
  }
  actions_ = document_->actions();
  // Of other actions: until both are made anew, no picture is asked for.
  rows_.reset();
  paint_.reset();
  dragged_.reset();
  selection_->clear();
  history_.clear();
  image_ = {};
  painted_follow_.reset();
  choices_.collapsed.clear();
  choices_.hidden.clear();
  choices_.pinned.clear();
  if (actions_) {
    const auto& axes = document_->file()->axes;
    const bool known = std::ranges::any_of(
        axes, [&](const RankAxis& axis) { return choices_.group_by == axis.name; });
    if (!known) {
      choices_.group_by.reset();
    }
    window_ = {0, static_cast<double>(std::max<std::int64_t>(actions_->length, 1))};
    fit_rows();
  }
  lay_out();
  repaint_actions();
  fit();
  note_view();
}

void TimelineView::take_revision() {
  const auto before = std::exchange(actions_, document_->actions());
  const auto selected = selection_->action();
  const auto followed = selection_->followed_micro_batch();
  paint_.reset();
  lay_out();
  dragged_.reset();
  selection_->clear();
  if (selected) {
    selection_->select(same_action(*before, *selected, *actions_));
  }
  selection_->follow(followed);
  repaint_actions();
}

void TimelineView::take_analysis() {
  if (colour_by_ == ColourBy::kSlack) {
    repaint_actions();
  }
  ask_for_picture();
}

void TimelineView::take_selection() {
  if (painted_follow_ != selection_->followed_micro_batch()) {
    repaint_actions();
  }
  viewport()->update();
}

void TimelineView::lay_out() {
  rows_ = actions_ ? std::make_shared<const RowLayout>(
                         lay_out_rows(*actions_, document_->file()->axes, choices_))
                   : nullptr;
  update_scroll_bar();
  ask_for_picture();
  viewport()->update();
}

void TimelineView::repaint_actions() {
  painted_follow_ = selection_->followed_micro_batch();
  paint_ = actions_ ? std::make_shared<const ActionPaint>(
                          colour_by_, actions_, document_->analysis(), painted_follow_)
                    : nullptr;
  ask_for_picture();
}

TimelinePicture TimelineView::picture() const {
  const QRect content = content_rect();
  const TimelineColours colours = timeline_colours(palette());
  return {.actions = actions_,
          .paint = paint_,
          .rows = rows_,
          .analysis = document_->analysis(),
          .paints = paints_for(colour_by_, colours),
          .colours = colours,
          .window = window_,
          .scroll = scroll(),
          .width = content.width(),
          .height = content.height(),
          .pixel_ratio = devicePixelRatioF(),
          .show_gaps = show_gaps_,
          .show_path = show_path_};
}

void TimelineView::ask_for_picture() {
  if (!actions_ || !paint_ || !rows_ || content_rect().isEmpty()) {
    return;
  }
  worker_.request(picture(), ++asked_number_);
  viewport()->update();
}

void TimelineView::take_picture(const QImage& image,
                                const TimeWindow& window,
                                double scroll,
                                quint64 number) {
  // One that comes late is still nearer to the view than what is shown.
  if (!actions_ || number <= shown_number_) {
    return;
  }
  shown_number_ = number;
  image_ = image;
  image_window_ = window;
  image_scroll_ = scroll;
  viewport()->update();
}

void TimelineView::draw_now() {
  if (!actions_) {
    return;
  }
  image_ = draw_timeline(picture());
  image_window_ = window_;
  image_scroll_ = scroll();
  shown_number_ = ++asked_number_;
}

QRect TimelineView::content_rect() const {
  return viewport()->rect().adjusted(kGutterWidth, kRulerHeight, 0, 0);
}

double TimelineView::scroll() const {
  return verticalScrollBar()->value();
}

double TimelineView::time_at(double x) const {
  const QRect content = content_rect();
  return window_.to_time(x - content.left(), std::max(1, content.width()));
}

double TimelineView::x_of(double time) const {
  const QRect content = content_rect();
  return content.left() + window_.to_pixel(time, std::max(1, content.width()));
}

QRect TimelineView::rect_of_row(std::size_t row) const {
  const LaidOutRow& laid_out = rows_->rows[row];
  const double top = content_rect().top() + laid_out.y - scroll();
  return QRectF(0, top, viewport()->width(), std::max(1.0, laid_out.height)).toAlignedRect();
}

std::optional<QRectF> TimelineView::rect_of_action(ActionIndex action) const {
  if (!rows_) {
    return std::nullopt;
  }
  const auto row = rows_->row_of(actions_->lane_of(action));
  if (!row) {
    return std::nullopt;
  }
  const double left = x_of(static_cast<double>(actions_->start[action]));
  const double right = x_of(static_cast<double>(actions_->end[action]));
  const double top = content_rect().top() + rows_->rows[*row].y - scroll();
  return QRectF(left, top, std::max(1.0, right - left), std::max(1.0, rows_->rows[*row].height));
}

std::optional<std::size_t> TimelineView::row_at(const QPointF& at) const {
  const double y = at.y() - content_rect().top() + scroll();
  if (!rows_ || y < 0 || y >= rows_->height || at.y() < content_rect().top()) {
    return std::nullopt;
  }
  const auto row = rows_->row_at(y);
  return row && y < rows_->rows[*row].bottom() ? row : std::nullopt;
}

std::optional<ActionIndex> TimelineView::action_at(const QPointF& at) const {
  const auto row = row_at(at);
  if (!row || at.x() < content_rect().left() || rows_->rows[*row].kind == RowKind::kGroup) {
    return std::nullopt;
  }
  // What is thinner than the pointer is still meant.
  constexpr double kReach = 2;
  for (const double offset : {0.0, kReach, -kReach}) {
    for (const LaneIndex lane : rows_->lanes_of(rows_->rows[*row])) {
      if (const auto action = actions_->at(actions_->lanes[lane], time_at(at.x() + offset))) {
        return action;
      }
    }
  }
  return std::nullopt;
}

void TimelineView::update_scroll_bar() {
  const int visible = content_rect().height();
  const int all = rows_ ? static_cast<int>(std::ceil(rows_->height)) : 0;
  verticalScrollBar()->setPageStep(std::max(1, visible));
  verticalScrollBar()->setSingleStep(std::max(10, static_cast<int>(2 * choices_.height)));
  verticalScrollBar()->setRange(0, std::max(0, all - visible));
}

void TimelineView::set_window(TimeWindow window) {
  if (!actions_ || std::isnan(window.start) || std::isnan(window.length)) {  // settings of others
    return;
  }
  const auto length = static_cast<double>(std::max<std::int64_t>(actions_->length, 1));
  // A little room on both sides, so that first and last boxes can be seen to end.
  const double least = -0.02 * length;
  const double most = 1.02 * length;
  window.length = std::clamp(window.length, std::min(kLeastWindow, length), most - least);
  window.start = std::clamp(window.start, least, most - window.length);
  if (window == window_) {
    return;
  }
  window_ = window;
  rest_.start();
  ask_for_picture();
  emit window_changed(window_);
}

void TimelineView::note_view() {
  if (actions_) {
    history_.note({window_, scroll()});
  }
}

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  const TimelineColours colours = timeline_colours(palette());
  painter.fillRect(viewport()->rect(), QColor::fromRgb(colours.background));
  if (!actions_) {
    return;
  }
  draw_stretched(painter);
  TimelineOverlay(*this, painter, colours).draw();
}

void TimelineView::draw_stretched(QPainter& painter) const {
  if (image_.isNull()) {
    if (shown_number_ == asked_number_ && shown_number_ > 0) {
      painter.setPen(palette().color(QPalette::PlaceholderText));
      painter.drawText(content_rect(),
                       static_cast<int>(Qt::AlignCenter) | static_cast<int>(Qt::TextWordWrap),
                       tr("This machine's memory does not hold a picture of that size; make the "
                          "window smaller, or close other programs."));
    }
    return;
  }
  const QRect content = content_rect();
  if (image_window_ == window_) {
    painter.save();
    painter.setClipRect(content);
    painter.drawImage(QPointF(content.left(), content.top() + image_scroll_ - scroll()), image_);
    painter.restore();
    return;
  }
  const double width = content.width();
  const double left = window_.to_pixel(image_window_.start, width);
  const double right = window_.to_pixel(image_window_.end(), width);
  const QSizeF size = image_.deviceIndependentSize();
  painter.save();
  painter.setClipRect(content);
  painter.drawImage(QRectF(content.left() + left,
                           content.top() + image_scroll_ - scroll(),
                           right - left,
                           size.height()),
                    image_);
  painter.restore();
}

void TimelineView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  if (rows_fit_ && event->size().height() != event->oldSize().height()) {
    fit_rows();
  }
  update_scroll_bar();
  ask_for_picture();
}

void TimelineView::scrollContentsBy(int, int) {
  rest_.start();
  ask_for_picture();
}

void TimelineView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) {
    ask_for_picture();
  }
}

}  // namespace stagewright::gui
