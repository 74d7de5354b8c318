#include "gui/widgets/explore/pareto_view.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QtGui/QHelpEvent>
#include <QtGui/QKeyEvent>
#include <QtGui/QMouseEvent>
#include <QtGui/QPainter>
#include <QtGui/QPainterPath>
#include <QtWidgets/QToolTip>

#include "core/trace/timeline.h"
#include "gui/models/ruler.h"
#include "gui/models/statistics_model.h"
#include "gui/widgets/theme.h"

namespace stagewright::gui {
namespace {

constexpr int kLeft = 62;
constexpr int kBottom = 40;
constexpr int kTop = 26;
constexpr int kRight = 16;
constexpr double kRadius = 4.5;
constexpr double kReach = 12;  ///< of the pointer
constexpr double kGibibyte = 1024.0 * 1024 * 1024;
/// By number of devices; told apart with any colour vision (Okabe and Ito 2008).
constexpr std::array<QRgb, 6> kColours{
    0xFF0072B2, 0xFFD55E00, 0xFF009E73, 0xFFCC79A7, 0xFFE69F00, 0xFF56B4E9};

double gibibytes(Bytes size) {
  return static_cast<double>(size.count()) / kGibibyte;
}

}  // namespace

ParetoView::ParetoView(PlanSearch* search, QWidget* parent) : QWidget(parent), search_(search) {
  setObjectName(QStringLiteral("pareto"));
  setAccessibleName(tr("Step time against memory"));
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(200, 140);
  connect(search_, &PlanSearch::changed, this, &ParetoView::take_plans);
  connect(search_, &PlanSearch::chosen_changed, this, &ParetoView::take_chosen);
  take_plans();
}

QSize ParetoView::sizeHint() const {
  return {420, 300};
}

void ParetoView::take_plans() {
  by_time_.clear();
  devices_.clear();
  const std::vector<CandidateRow>& rows = search_->candidates()->rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].state != CandidateState::kRejected) {
      by_time_.push_back(static_cast<int>(i));
      devices_.push_back(rows[i].candidate.point.devices());
    }
  }
  std::ranges::sort(devices_);
  const auto repeated = std::ranges::unique(devices_);
  devices_.erase(repeated.begin(), repeated.end());
  const auto candidate = [&](int row) -> const Candidate& {
    return rows[static_cast<std::size_t>(row)].candidate;
  };
  std::ranges::stable_sort(by_time_, {}, [&](int row) { return candidate(row).step_time; });
  if (!by_time_.empty()) {
    const auto memory = [&](int row) { return gibibytes(candidate(row).peak_memory); };
    const auto [least, most] = std::ranges::minmax(by_time_, {}, memory);
    scale_ = {.first_time = to_seconds(candidate(by_time_.front()).step_time),
              .last_time = to_seconds(candidate(by_time_.back()).step_time),
              .least_memory = memory(least),
              .most_memory = std::max(memory(most), gibibytes(search_->device_memory()))};
    const double time_room =
        std::max(0.06 * (scale_.last_time - scale_.first_time), 0.01 * scale_.last_time);
    const double memory_room = std::max(0.06 * (scale_.most_memory - scale_.least_memory), 0.1);
    scale_.first_time = std::max(0.0, scale_.first_time - time_room);
    scale_.last_time += time_room;
    scale_.least_memory = std::max(0.0, scale_.least_memory - memory_room);
    scale_.most_memory += memory_room;
  }
  take_chosen();
}

void ParetoView::take_chosen() {
  const int row = search_->chosen();
  setAccessibleDescription(row < 0 ? tr("No plan is chosen.") : describe(row));
  update();
}

QRectF ParetoView::plot() const {
  return QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom);
}

QPointF ParetoView::place(double seconds, double memory) const {
  const QRectF area = plot();
  const double x = (seconds - scale_.first_time) / (scale_.last_time - scale_.first_time);
  const double y = (memory - scale_.least_memory) / (scale_.most_memory - scale_.least_memory);
  return {area.left() + x * area.width(), area.bottom() - y * area.height()};
}

std::optional<QPointF> ParetoView::point_of(int row) const {
  if (std::ranges::find(by_time_, row) == by_time_.end()) {
    return std::nullopt;
  }
  const Candidate& candidate =
      search_->candidates()->rows()[static_cast<std::size_t>(row)].candidate;
  return place(to_seconds(candidate.step_time), gibibytes(candidate.peak_memory));
}

std::optional<int> ParetoView::row_at(const QPointF& at) const {
  std::optional<int> nearest;
  double least = kReach;
  for (const int row : by_time_) {
    const QPointF away = *point_of(row) - at;
    const double distance = std::hypot(away.x(), away.y());
    if (distance < least) {
      least = distance;
      nearest = row;
    }
  }
  return nearest;
}

QString ParetoView::describe(int row) const {
  const CandidateRow& plan = search_->candidates()->rows()[static_cast<std::size_t>(row)];
  const QString name = QString::fromStdString(summary(plan.candidate.plan));
  if (plan.state == CandidateState::kRejected) {
    return tr("%1\nNo place in this plot: rejected before it had a time. %2")
        .arg(name, QString::fromStdString(plan.reason));
  }
  return tr("%1\n%2 a step, %3, %n device(s)",
            nullptr,
            static_cast<int>(plan.candidate.point.devices()))
      .arg(name,
           time_text(plan.candidate.step_time, usual_unit(plan.candidate.step_time)),
           QString::fromStdString(to_string(plan.candidate.peak_memory)));
}

QColor ParetoView::colour_of(std::int64_t devices) const {
  const auto at = std::ranges::lower_bound(devices_, devices) - devices_.begin();
  const QColor colour = QColor::fromRgb(kColours[static_cast<std::size_t>(at) % kColours.size()]);
  return timeline_colours(palette()).dark ? colour.lighter(135) : colour;
}

void ParetoView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (by_time_.empty()) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    const bool running = search_->state() == PlanSearch::State::kRunning;
    painter.drawText(rect(),
                     Qt::AlignCenter,
                     running ? tr("No plan was simulated yet ...") : tr("No plans yet."));
    return;
  }
  painter.setRenderHint(QPainter::Antialiasing);
  draw_axes(painter);
  draw_front(painter);
  draw_points(painter);
  draw_legend(painter);
  draw_note(painter);
}

/// Why the chosen plan is not among the points.
void ParetoView::draw_note(QPainter& painter) const {
  constexpr int kHeight = 18;
  const int row = search_->chosen();
  if (row < 0 || point_of(row)) {
    return;
  }
  const CandidateRow& plan = search_->candidates()->rows()[static_cast<std::size_t>(row)];
  const QRectF area = plot();
  const QRectF line(area.left() + 1, area.bottom() - kHeight, area.width() - 1, kHeight);
  painter.fillRect(line, palette().color(QPalette::Base));
  painter.setPen(warning_colour(palette()));
  painter.drawText(
      line,
      Qt::AlignLeft | Qt::AlignVCenter,
      painter.fontMetrics().elidedText(
          tr("The chosen plan has no place here: %1").arg(QString::fromStdString(plan.reason)),
          Qt::ElideRight,
          static_cast<int>(line.width())));
}

void ParetoView::draw_axes(QPainter& painter) const {
  constexpr double kSpacing = 70;
  const QRectF area = plot();
  const QColor grid = QColor::fromRgb(timeline_colours(palette()).grid);
  const QColor text = palette().color(QPalette::Text);
  const TimeWindow window{scale_.first_time * 1e12, (scale_.last_time - scale_.first_time) * 1e12};
  const TimeUnit unit = usual_unit(from_seconds(scale_.last_time));
  for (const RulerMark& mark : ruler_marks(window, area.width(), kSpacing, unit)) {
    const double x = area.left() + window.to_pixel(mark.time, area.width());
    painter.setPen(grid);
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    painter.setPen(text);
    painter.drawText(
        QRectF(x - kSpacing / 2, area.bottom() + 3, kSpacing, 16), Qt::AlignCenter, mark.label);
  }
  const double span = scale_.most_memory - scale_.least_memory;
  const double step = round_step(span / area.height() * kSpacing / 2);
  const int decimals = step < 1 ? 1 : 0;
  for (double i = std::ceil(scale_.least_memory / step); i * step <= scale_.most_memory; ++i) {
    const double y = place(scale_.first_time, i * step).y();
    painter.setPen(grid);
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(text);
    painter.drawText(QRectF(2, y - 8, kLeft - 8, 16),
                     Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(i * step, 'f', decimals));
  }
  painter.drawText(QRectF(2, 4, kLeft + 40, 16), Qt::AlignLeft, tr("GiB a device"));
  painter.drawText(
      QRectF(area.left(), area.bottom() + 19, area.width(), 18), Qt::AlignCenter, tr("step time"));
  if (search_->device_memory() > Bytes{}) {
    const double y = place(scale_.first_time, gibibytes(search_->device_memory())).y();
    painter.setPen(QPen(warning_colour(palette()), 1.5, Qt::DashLine));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
  }
}

void ParetoView::draw_front(QPainter& painter) const {
  QPainterPath line;
  for (const int row : by_time_) {
    if (!search_->candidates()->rows()[static_cast<std::size_t>(row)].on_front) {
      continue;
    }
    const QPointF at = *point_of(row);
    if (line.isEmpty()) {
      line.moveTo(at);
    } else if (at.y() > line.currentPosition().y()) {  // less memory than the faster ones
      line.lineTo(at.x(), line.currentPosition().y());
      line.lineTo(at);
    }
  }
  painter.setPen(QPen(QColor::fromRgb(timeline_colours(palette()).faint_text), 1.2));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(line);
}

void ParetoView::draw_points(QPainter& painter) const {
  for (const int row : by_time_) {
    const CandidateRow& plan = search_->candidates()->rows()[static_cast<std::size_t>(row)];
    const QColor colour = colour_of(plan.candidate.point.devices());
    painter.setPen(QPen(colour, 1.5));
    painter.setBrush(plan.state == CandidateState::kSimulated ? QBrush(colour)
                                                              : QBrush(Qt::NoBrush));
    painter.drawEllipse(*point_of(row), kRadius, kRadius);
  }
  if (const auto chosen = point_of(search_->chosen())) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Text), hasFocus() ? 2.5 : 1.5));
    painter.drawEllipse(*chosen, kRadius + 4, kRadius + 4);
  }
}

void ParetoView::draw_legend(QPainter& painter) const {
  double right = width() - kRight;
  const auto entry = [&](const QString& text, const QColor& colour, bool filled) {
    const double wide = painter.fontMetrics().horizontalAdvance(text);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRectF(right - wide, 4, wide + 1, 16), Qt::AlignVCenter, text);
    painter.setPen(QPen(colour, 1.5));
    painter.setBrush(filled ? QBrush(colour) : QBrush(Qt::NoBrush));
    painter.drawEllipse(QPointF(right - wide - 8, 12), 4, 4);
    right -= wide + 26;
  };
  const bool hollow = std::ranges::any_of(search_->candidates()->rows(), [](const auto& row) {
    return row.state == CandidateState::kEstimated;
  });
  if (hollow) {
    entry(tr("closed form alone"), palette().color(QPalette::Text), false);
  }
  const auto most = std::min(devices_.size(), kColours.size());
  for (std::size_t i = most; i-- > 0;) {
    entry(tr("%n device(s)", nullptr, static_cast<int>(devices_[i])), colour_of(devices_[i]), true);
  }
}

void ParetoView::mousePressEvent(QMouseEvent* event) {
  if (const auto row = row_at(event->position())) {
    search_->choose(*row);
  }
}

void ParetoView::keyPressEvent(QKeyEvent* event) {
  const bool right = event->key() == Qt::Key_Right;
  if ((!right && event->key() != Qt::Key_Left) || by_time_.empty()) {
    QWidget::keyPressEvent(event);
    return;
  }
  const auto now = std::ranges::find(by_time_, search_->chosen());
  if (now == by_time_.end()) {
    search_->choose(by_time_.front());
  } else if (right && now + 1 != by_time_.end()) {
    search_->choose(*(now + 1));
  } else if (!right && now != by_time_.begin()) {
    search_->choose(*(now - 1));
  }
}

bool ParetoView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* const help = static_cast<QHelpEvent*>(event);
    const auto row = row_at(help->pos());
    QToolTip::showText(help->globalPos(), row ? describe(*row) : QString(), this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace stagewright::gui
