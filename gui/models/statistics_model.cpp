#include "gui/models/statistics_model.h"

#include <utility>

#include "gui/models/words.h"

namespace stagewright::gui {

QString time_text(Duration time, const TimeUnit& unit) {
  if (unit.name.empty()) {
    return QString::number(to_seconds(time) / unit.seconds, 'g', 6);
  }
  if (time == Duration{}) {
    return QStringLiteral("0 %1").arg(QString::fromStdString(unit.name));
  }
  return QString::fromStdString(to_string(time));
}

void StatisticsModel::set_statistics(SelectionStatistics statistics, const TimeUnit& unit) {
  beginResetModel();
  statistics_ = std::move(statistics);
  unit_ = unit;
  endResetModel();
}

int StatisticsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(statistics_.kinds.size());
}

int StatisticsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QVariant StatisticsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) {
    return {};
  }
  const KindStatistics& kind = statistics_.kinds[static_cast<std::size_t>(index.row())];
  if (role == Qt::TextAlignmentRole && index.column() != kKind) {
    return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole && role != kSortRole) {
    return {};
  }
  const auto time = [&](Duration value) {
    return role == kSortRole ? QVariant(static_cast<qlonglong>(value.count()))
                             : QVariant(time_text(value, unit_));
  };
  switch (static_cast<Column>(index.column())) {
    case kKind:
      return word_for(kind.kind);
    case kCount:
      return static_cast<qlonglong>(kind.count);
    case kTotal:
      return time(kind.total);
    case kMean:
      return time(kind.mean);
    case kLeast:
      return time(kind.least);
    case kMost:
      return time(kind.most);
    case kColumns:
      break;
  }
  return {};
}

QVariant StatisticsModel::headerData(int section, Qt::Orientation side, int role) const {
  if (side != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  switch (static_cast<Column>(section)) {
    case kKind:
      return tr("Action");
    case kCount:
      return tr("Count");
    case kTotal:
      return tr("Total");
    case kMean:
      return tr("Mean");
    case kLeast:
      return tr("Least");
    case kMost:
      return tr("Most");
    case kColumns:
      break;
  }
  return {};
}

}  // namespace stagewright::gui
