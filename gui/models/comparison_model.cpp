#include "gui/models/comparison_model.h"

#include <algorithm>
#include <utility>

#include "gui/models/statistics_model.h"

namespace stagewright::gui {

QString signed_time_text(Duration time, const TimeUnit& unit) {
  const QString text = time_text(std::chrono::abs(time), unit);
  if (time == Duration{}) {
    return text;
  }
  return (time > Duration{} ? QLatin1Char('+') : QLatin1Char('-')) + text;
}

void ComparisonModel::set_comparison(std::shared_ptr<const ComparedSteps> compared,
                                     const TimeUnit& unit) {
  beginResetModel();
  compared_ = std::move(compared);
  unit_ = unit;
  endResetModel();
}

ActionIndex ComparisonModel::action_at(int row) const {
  return compared_->matches[static_cast<std::size_t>(row)].second;
}

int ComparisonModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !compared_) {
    return 0;
  }
  return static_cast<int>(std::min<std::size_t>(kMostRows, compared_->matches.size()));
}

int ComparisonModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QVariant ComparisonModel::number(int column, const ActionMatch& match) const {
  const ActionStore& store = compared_->actions;
  switch (static_cast<Column>(column)) {
    case kAction:
      return QString::fromStdString(short_name(store, match.first));
    case kRank:
      return store.lanes[store.lane_of(match.first)].rank.value();
    case kFirst:
      return static_cast<qlonglong>(match.first_time.count());
    case kSecond:
      return static_cast<qlonglong>((match.first_time + match.own).count());
    case kOwn:
      return static_cast<qlonglong>(match.own.count());
    case kInherited:
      return static_cast<qlonglong>(match.inherited.count());
    case kColumns:
      break;
  }
  return {};
}

QVariant ComparisonModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) {
    return {};
  }
  if (role == Qt::TextAlignmentRole && index.column() != kAction) {
    return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole && role != kSortRole) {
    return {};
  }
  const ActionMatch& match = compared_->matches[static_cast<std::size_t>(index.row())];
  const QVariant value = number(index.column(), match);
  if (role == kSortRole || index.column() == kAction || index.column() == kRank) {
    return value;
  }
  const Duration time(value.toLongLong());
  const bool differs = index.column() == kOwn || index.column() == kInherited;
  return differs ? signed_time_text(time, unit_) : time_text(time, unit_);
}

QVariant ComparisonModel::headerData(int section, Qt::Orientation side, int role) const {
  if (side != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  switch (static_cast<Column>(section)) {
    case kAction:
      return tr("Action");
    case kRank:
      return tr("Rank");
    case kFirst:
      return tr("First");
    case kSecond:
      return tr("Second");
    case kOwn:
      return tr("Own");
    case kInherited:
      return tr("Start");
    case kColumns:
      break;
  }
  return {};
}

}  // namespace stagewright::gui
