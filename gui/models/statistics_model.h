#pragma once

#include <QtCore/QAbstractTableModel>

#include "core/trace/timeline.h"
#include "gui/models/selection_statistics.h"

namespace stagewright::gui {

/// A row for each kind of action: how often, how long in all, on average, at least and at most.
class StatisticsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    kKind,
    kCount,
    kTotal,
    kMean,
    kLeast,
    kMost,
    kColumns
  };
  /// A number to sort by.
  static constexpr int kSortRole = Qt::UserRole;

  explicit StatisticsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  /// Times are written in that unit.
  void set_statistics(SelectionStatistics statistics, const TimeUnit& unit);

  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation side, int role) const override;

 private:
  SelectionStatistics statistics_;
  TimeUnit unit_;
};

/// "12.3 ms"; a bare number where the unit has no name.
[[nodiscard]] QString time_text(Duration time, const TimeUnit& unit);

}  // namespace stagewright::gui
