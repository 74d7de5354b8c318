#pragma once

#include <memory>

#include <QtCore/QAbstractTableModel>

#include "core/trace/timeline.h"
#include "gui/models/compared_steps.h"

namespace stagewright::gui {

/// The actions whose durations differ most between two steps.
class ComparisonModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    kAction,
    kRank,
    kFirst,
    kSecond,
    kOwn,        ///< second less first
    kInherited,  ///< how much later it started
    kColumns
  };
  /// A number to sort by.
  static constexpr int kSortRole = Qt::UserRole;
  static constexpr int kMostRows = 1000;

  explicit ComparisonModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  /// Null: nothing is compared.  Times are written in that unit.
  void set_comparison(std::shared_ptr<const ComparedSteps> compared, const TimeUnit& unit);
  /// The action of the second step in a row.
  [[nodiscard]] ActionIndex action_at(int row) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation side, int role) const override;

 private:
  [[nodiscard]] QVariant number(int column, const ActionMatch& match) const;

  std::shared_ptr<const ComparedSteps> compared_;
  TimeUnit unit_;
};

/// "+1.2 ms" or "-3 us".
[[nodiscard]] QString signed_time_text(Duration time, const TimeUnit& unit);

}  // namespace stagewright::gui
