#include "gui/models/ruler.h"

#include <algorithm>
#include <cmath>

#include <QtGui/QPainter>

namespace stagewright::gui {
namespace {

constexpr double kPicosecondsPerSecond = 1e12;

}  // namespace

double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= least * (1 - 1e-9)) {
      return power * factor;
    }
  }
  return 10 * power;
}

std::vector<RulerMark> ruler_marks(const TimeWindow& window,
                                   double width,
                                   double spacing,
                                   const TimeUnit& unit) {
  std::vector<RulerMark> marks;
  if (window.length <= 0 || width < 1) {
    return marks;
  }
  const double end = std::max(std::abs(window.end()), std::abs(window.start));
  const TimeUnit shown =
      unit.name.empty() ? unit : usual_unit(Duration(static_cast<std::int64_t>(end)));
  const double per_unit = shown.seconds * kPicosecondsPerSecond;
  const double step = round_step(window.length / width * spacing / per_unit);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  const QString suffix =
      shown.name.empty() ? QString() : QLatin1Char(' ') + QString::fromStdString(shown.name);
  for (double i = std::ceil(window.start / per_unit / step - 1e-9);
       i * step * per_unit <= window.end();
       ++i) {
    marks.push_back({i * step * per_unit, QString::number(i * step + 0.0, 'f', decimals) + suffix});
  }
  return marks;
}

void draw_ruler(QPainter& painter,
                const QRectF& area,
                const TimeWindow& window,
                const TimeUnit& unit,
                const TimelineColours& colours) {
  constexpr double kSpacing = 110;
  painter.fillRect(area, QColor::fromRgb(colours.gutter));
  painter.setPen(QColor::fromRgb(colours.faint_text));
  for (const RulerMark& mark : ruler_marks(window, area.width(), kSpacing, unit)) {
    const double x = std::round(area.left() + window.to_pixel(mark.time, area.width())) + 0.5;
    painter.drawLine(QPointF(x, area.bottom() - 5), QPointF(x, area.bottom()));
    // A label that would stick out stands beside its tick.
    const double width = painter.fontMetrics().horizontalAdvance(mark.label) + 4;
    const double left = std::clamp(
        x - width / 2, area.left() + 2, std::max(area.left() + 2, area.right() - width - 2));
    painter.drawText(
        QRectF(left, area.top(), width, area.height() - 5), Qt::AlignCenter, mark.label);
  }
  painter.setPen(QColor::fromRgb(colours.grid));
  painter.drawLine(area.bottomLeft(), area.bottomRight());
}

}  // namespace stagewright::gui
