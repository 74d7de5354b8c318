#include "gui/widgets/timeline/overview_strip.h"

#include <algorithm>
#include <cmath>

#include <QtCore/QEvent>
#include <QtGui/QMouseEvent>
#include <QtGui/QPainter>

#include "gui/widgets/theme.h"
#include "gui/widgets/timeline/timeline_layout.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

constexpr int kHeight = 42;
constexpr int kMargin = 4;

/// One row of all ranks' computing.
RowLayout one_row(const ActionStore& store, double height) {
  RowLayout layout;
  for (LaneIndex lane = 0; lane < store.lanes.size(); ++lane) {
    if (store.lanes[lane].use == LaneUse::kCompute) {
      layout.lanes.push_back(lane);
    }
  }
  layout.height = height;
  layout.rows.push_back({.kind = RowKind::kGroup,
                         .group = 0,
                         .lanes_begin = 0,
                         .lanes_end = static_cast<std::uint32_t>(layout.lanes.size()),
                         .height = height});
  return layout;
}

}  // namespace

OverviewStrip::OverviewStrip(TimelineView* timeline, QWidget* parent)
    : QWidget(parent), timeline_(timeline) {
  setObjectName(QStringLiteral("overview"));
  setAccessibleName(tr("Overview of the step"));
  setFixedHeight(kHeight);
  connect(timeline_->document(), &Document::changed, this, &OverviewStrip::take_document);
  connect(timeline_, &TimelineView::window_changed, this, qOverload<>(&QWidget::update));
  connect(timeline_->selection(), &Selection::hits_changed, this, qOverload<>(&QWidget::update));
  connect(timeline_->selection(), &Selection::marks_changed, this, qOverload<>(&QWidget::update));
  connect(&worker_,
          &PictureWorker::drawn,
          this,
          [this](const QImage& image, const TimeWindow&, double, quint64 number) {
            if (number == number_) {
              image_ = image;
              update();
            }
          });
  take_document();
}

QSize OverviewStrip::sizeHint() const {
  return {600, kHeight};
}

void OverviewStrip::take_document() {
  actions_ = timeline_->document()->actions();
  image_ = {};
  paint_.reset();
  rows_.reset();
  if (actions_) {
    paint_ = std::make_shared<const ActionPaint>(ColourBy::kAction, actions_);
    rows_ = std::make_shared<const RowLayout>(one_row(*actions_, band().height() + 1));
  }
  ask_for_picture();
  update();
}

QRectF OverviewStrip::band() const {
  return QRectF(rect()).adjusted(kGutterWidth, kMargin, 0, -kMargin);
}

TimeWindow OverviewStrip::whole() const {
  const auto length =
      static_cast<double>(actions_ ? std::max<std::int64_t>(actions_->length, 1) : 1);
  return {-0.005 * length, 1.01 * length};
}

TimelinePicture OverviewStrip::picture() const {
  const TimelineColours colours = timeline_colours(palette());
  return {.actions = actions_,
          .paint = paint_,
          .rows = rows_,
          .analysis = nullptr,
          .paints = paints_for(ColourBy::kAction, colours),
          .colours = colours,
          .window = whole(),
          .width = static_cast<int>(band().width()),
          .height = static_cast<int>(band().height()),
          .pixel_ratio = devicePixelRatioF()};
}

void OverviewStrip::ask_for_picture() {
  if (rows_ && band().width() >= 1) {
    worker_.request(picture(), ++number_);
  }
}

void OverviewStrip::draw_now() {
  if (rows_ && band().width() >= 1) {
    image_ = draw_timeline(picture());
    ++number_;
  }
}

void OverviewStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const TimelineColours colours = timeline_colours(palette());
  painter.fillRect(rect(), QColor::fromRgb(colours.gutter));
  if (!rows_) {
    return;
  }
  const QRectF band = this->band();
  painter.setPen(QColor::fromRgb(colours.faint_text));
  painter.drawText(QRectF(8, 0, kGutterWidth - 12, height()),
                   Qt::AlignVCenter | Qt::AlignLeft,
                   tr("whole step"));
  if (!image_.isNull()) {
    painter.drawImage(band, image_);
  }
  const auto x_of = [&](double time) { return band.left() + whole().to_pixel(time, band.width()); };
  const auto& store = *timeline_->document()->actions();
  painter.setPen(QPen(QColor::fromRgb(colours.path), 1));
  double last = -10;
  std::vector<double> ticks;
  for (const ActionIndex hit : timeline_->selection()->hits()) {
    ticks.push_back(std::round(x_of(static_cast<double>(store.start[hit]))) + 0.5);
  }
  std::ranges::sort(ticks);
  for (const double x : ticks) {
    if (x - last >= 1) {
      painter.drawLine(QPointF(x, 0), QPointF(x, kMargin + 6));
      last = x;
    }
  }
  for (const Mark& mark : timeline_->selection()->marks()) {
    const double x = x_of(static_cast<double>(mark.at));
    painter.drawLine(QPointF(x, 0), QPointF(x, height()));
  }
  const double left = std::max(band.left(), x_of(timeline_->window_shown().start));
  const double right = std::min(band.right(), x_of(timeline_->window_shown().end()));
  QColor shade = QColor::fromRgb(colours.gutter);
  shade.setAlpha(170);
  painter.fillRect(QRectF(QPointF(band.left(), band.top()), QPointF(left, band.bottom())), shade);
  painter.fillRect(QRectF(QPointF(right, band.top()), QPointF(band.right(), band.bottom())), shade);
  painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(QPointF(left + 1, band.top()), QPointF(right - 1, band.bottom())));
}

void OverviewStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  ask_for_picture();
}

void OverviewStrip::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) {
    ask_for_picture();
  }
}

double OverviewStrip::time_at(double x) const {
  return whole().to_time(x - band().left(), band().width());
}

void OverviewStrip::mousePressEvent(QMouseEvent* event) {
  drag_from_ = time_at(event->position().x());
  drag_window_ = timeline_->window_shown();
  const bool whole_shown = drag_window_.length >= 0.98 * whole().length;
  moves_ = event->button() == Qt::LeftButton && !whole_shown && drag_from_ >= drag_window_.start &&
           drag_from_ <= drag_window_.end();
}

void OverviewStrip::mouseMoveEvent(QMouseEvent* event) {
  const double at = time_at(event->position().x());
  if (moves_) {
    timeline_->show_window({drag_window_.start + at - drag_from_, drag_window_.length});
  } else if (std::abs(at - drag_from_) > 0) {
    timeline_->show_window({std::min(at, drag_from_), std::abs(at - drag_from_)});
  }
}

}  // namespace stagewright::gui
