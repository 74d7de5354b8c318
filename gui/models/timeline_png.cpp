#include "gui/models/timeline_png.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <QtCore/QBuffer>
#include <QtGui/QPainter>

#include "gui/models/ruler.h"
#include "gui/models/timeline_image.h"

namespace stagewright::gui {
namespace {

constexpr int kTitle = 28;
constexpr int kRuler = 24;
constexpr int kGutter = 150;
constexpr double kRowHeight = 22;

/// Without an owner: the step outlives the picture.
template <class T>
std::shared_ptr<const T> borrowed(const T& value) {
  return {std::shared_ptr<const T>{}, &value};
}

/// As high as they can be, up to the usual height.
RowLayout rows_of(const OpenedFile& file, const ShownStep& step) {
  RowChoices choices{.height = kRowHeight};
  RowLayout rows = lay_out_rows(step.actions, file.axes, choices);
  // The space between ranks does not shrink with them.
  while (rows.height >= kMostPngHeight + 1) {
    choices.height *= kMostPngHeight / rows.height;
    rows = lay_out_rows(step.actions, file.axes, choices);
  }
  return rows;
}

void draw_ranks(QPainter& painter, const RowLayout& rows, const ActionStore& actions) {
  double free = 0;  // labels keep off each other
  const double line = painter.fontMetrics().height();
  for (const LaidOutRow& row : rows.rows) {
    const bool computes = row.kind != RowKind::kLane ||
                          actions.lanes[rows.lanes[row.lanes_begin]].use == LaneUse::kCompute;
    if (computes && row.y >= free) {
      painter.drawText(QRectF(8, row.y, kGutter - 12, std::max(row.height, line)),
                       Qt::AlignVCenter | Qt::AlignLeft,
                       QString::fromStdString(label_of(rows, row, actions)));
      free = row.y + line;
    }
  }
}

}  // namespace

Result<std::string> write_timeline_png(const OpenedFile& file, const ShownStep& step) {
  const RowLayout rows = rows_of(file, step);
  const TimelineColours colours;
  const TimeWindow window{0, static_cast<double>(std::max<std::int64_t>(step.actions.length, 1))};
  const int height = std::clamp(static_cast<int>(std::ceil(rows.height)), 1, kMostPngHeight);
  const QImage timeline = draw_timeline(
      {.actions = borrowed(step.actions),
       .paint = std::make_shared<const ActionPaint>(ColourBy::kAction, borrowed(step.actions)),
       .rows = borrowed(rows),
       .analysis = nullptr,
       .paints = paints_for(ColourBy::kAction, colours),
       .colours = colours,
       .window = window,
       .width = kPngWidth - kGutter,
       .height = height});
  QImage page(kPngWidth, kTitle + height + kRuler, QImage::Format_RGB32);
  if (timeline.isNull() || page.isNull()) {
    return fail(ErrorCode::kUnsupported, "the picture does not fit in this machine's memory");
  }
  page.fill(colours.background);
  QPainter painter(&page);
  painter.setPen(QColor::fromRgb(colours.text));
  painter.drawText(QRectF(8, 0, kPngWidth - 16, kTitle),
                   Qt::AlignVCenter | Qt::AlignLeft,
                   QString::fromStdString(file.title));
  painter.drawImage(kGutter, kTitle, timeline);
  painter.save();
  painter.translate(0, kTitle);
  draw_ranks(painter, rows, step.actions);
  painter.restore();
  draw_ruler(painter,
             QRectF(kGutter, kTitle + height, kPngWidth - kGutter, kRuler),
             window,
             file.unit,
             colours);
  painter.end();
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (!page.save(&buffer, "PNG")) {
    return fail(ErrorCode::kUnsupported, "the picture could not be encoded as PNG");
  }
  return bytes.toStdString();
}

}  // namespace stagewright::gui
